#include "metal/cpu/vectorizer/prepare.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/CodeGen/UnreachableBlockElim.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"
#include "llvm/Transforms/Utils/UnifyLoopExits.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/comparisons.h"
#include "metal/cpu/vectorizer/control/iteration_ends.h"
#include "metal/cpu/vectorizer/memory/block_operations.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Makes unreachable code end the thread.
void end_unreachable(llvm::Function& body) {
  for (BasicBlock& block : body) {
    if (!llvm::isa<llvm::UnreachableInst>(block.getTerminator())) continue;
    block.getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(body.getContext(), &block);
  }
}

// Adds exits to endless loops: lanes can only reconverge if every block reaches the return.
void add_exits(llvm::Function& body, const llvm::LoopInfo& loops) {
  BasicBlock* end = nullptr;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<BasicBlock*> exits;
    loop->getExitBlocks(exits);
    if (!exits.empty()) continue;
    if (!end) {
      end = BasicBlock::Create(body.getContext(), "never", &body);
      llvm::ReturnInst::Create(body.getContext(), end);
    }
    BasicBlock* header = loop->getHeader();
    BasicBlock* rest = header->splitBasicBlock(header->getFirstInsertionPt(), "forever");
    header->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(header);
    auto never = body.getParent()->getOrInsertFunction(
        kNever, llvm::FunctionType::get(builder.getInt1Ty(), false));
    builder.CreateCondBr(builder.CreateCall(never), end, rest);
  }
}

// Splits a cast between a vector and an integer, or between vectors of different lengths, into
// casts of elements.
void split_bitcast(llvm::BitCastInst& cast) {
  auto* from = llvm::dyn_cast<llvm::FixedVectorType>(cast.getSrcTy());
  auto* to = llvm::dyn_cast<llvm::FixedVectorType>(cast.getDestTy());
  llvm::IRBuilder<> b(&cast);
  Value* number = cast.getOperand(0);
  if (from) {
    const unsigned bits = from->getScalarSizeInBits();
    llvm::Type* whole = b.getIntNTy(bits * from->getNumElements());
    Value* packed = llvm::ConstantInt::get(whole, 0);
    for (uint64_t i = 0; i < from->getNumElements(); ++i) {
      // A poison element must not make the others poison.
      Value* element = b.CreateFreeze(b.CreateExtractElement(number, i));
      element = b.CreateBitCast(element, b.getIntNTy(bits));
      packed = b.CreateOr(packed, b.CreateShl(b.CreateZExt(element, whole), i * bits));
    }
    number = packed;
  } else {
    number = b.CreateBitCast(number, b.getIntNTy(cast.getSrcTy()->getScalarSizeInBits()));
  }
  Value* result = number;
  if (to) {
    const unsigned bits = to->getScalarSizeInBits();
    result = llvm::PoisonValue::get(to);
    for (uint64_t i = 0; i < to->getNumElements(); ++i) {
      Value* element = b.CreateTrunc(b.CreateLShr(number, i * bits), b.getIntNTy(bits));
      result = b.CreateInsertElement(result, b.CreateBitCast(element, to->getElementType()), i);
    }
  } else {
    result = b.CreateBitCast(number, cast.getDestTy());
  }
  cast.replaceAllUsesWith(result);
  cast.eraseFromParent();
}

unsigned elements(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

void split_bitcasts(llvm::Function& body) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    if (cast && (cast->getSrcTy()->isVectorTy() || cast->getDestTy()->isVectorTy()) &&
        elements(cast->getSrcTy()) != elements(cast->getDestTy()))
      split_bitcast(*cast);
  }
}

// Splits a phi of pairs, such as compare-exchanges give, into phis of their parts.
void split_pair(llvm::PHINode& pair) {
  llvm::IRBuilder<> b(pair.getParent(), pair.getParent()->getFirstInsertionPt());
  Value* whole = llvm::PoisonValue::get(pair.getType());
  llvm::SmallVector<llvm::PHINode*> parts;
  for (unsigned i = 0; i < pair.getType()->getStructNumElements(); ++i) {
    parts.push_back(llvm::PHINode::Create(pair.getType()->getStructElementType(i),
                                          pair.getNumIncomingValues(), "", pair.getIterator()));
    whole = b.CreateInsertValue(whole, parts.back(), i);
  }
  for (unsigned incoming = 0; incoming < pair.getNumIncomingValues(); ++incoming) {
    BasicBlock* from = pair.getIncomingBlock(incoming);
    llvm::IRBuilder<> end(from->getTerminator());
    for (unsigned i = 0; i < parts.size(); ++i)
      parts[i]->addIncoming(end.CreateExtractValue(pair.getIncomingValue(incoming), i), from);
  }
  for (llvm::User* user : llvm::make_early_inc_range(pair.users())) {
    auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(user);
    if (!part || part->getNumIndices() != 1) continue;
    part->replaceAllUsesWith(parts[part->getIndices()[0]]);
    part->eraseFromParent();
  }
  pair.replaceAllUsesWith(whole);
  pair.eraseFromParent();
}

// Parts leave a pair where it is computed: a loop that it leaves whole would get a phi of pairs.
void split_pairs(llvm::Function& body) {
  for (BasicBlock& block : body) {
    for (llvm::PHINode& phi : llvm::make_early_inc_range(block.phis())) {
      if (phi.getType()->isStructTy()) split_pair(phi);
    }
  }
  for (Instruction& pair : llvm::instructions(body)) {
    if (!pair.getType()->isStructTy()) continue;
    for (llvm::User* user : pair.users()) {
      auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(user);
      if (part && part->getParent() != pair.getParent()) part->moveAfter(&pair);
    }
  }
}

// Splits the exit block of loops, so that it has phis only.
void separate_exits(const llvm::LoopInfo& loops) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    BasicBlock* exit = loop->getUniqueExitBlock();
    exit->splitBasicBlock(exit->getFirstInsertionPt(), exit->getName() + ".after");
  }
}

}  // namespace

void remove_hints(llvm::Function& body) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call && call->getType()->isVoidTy() && call->isAssumeLikeIntrinsic())
      instruction.eraseFromParent();
  }
}

llvm::PreservedAnalyses PreparePass::run(llvm::Function& body,
                                         llvm::FunctionAnalysisManager& analyses) {
  remove_hints(body);
  compiler::reveal_ways(body);
  expand_block_operations(body);
  end_unreachable(body);
  analyses.invalidate(body, llvm::PreservedAnalyses::none());
  add_exits(body, analyses.getResult<llvm::LoopAnalysis>(body));
  analyses.invalidate(body, llvm::PreservedAnalyses::none());

  const llvm::ScalarizerPassOptions everything{
      .ScalarizeVariableInsertExtract = true, .ScalarizeLoadStore = true, .ScalarizeMinBits = 0};
  llvm::ScalarizerPass(everything).run(body, analyses);
  split_bitcasts(body);
  split_pairs(body);
  undo_guarded_forms(body);
  split_comparisons(body);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ScalarizerPass(everything));
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnreachableBlockElimPass());  // cases of switches on constants
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::UnifyLoopExitsPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.addPass(IterationEndsPass());
  passes.run(body, analyses);
  separate_exits(analyses.getResult<llvm::LoopAnalysis>(body));
  return llvm::PreservedAnalyses::none();
}

}  // namespace metal::cpu
