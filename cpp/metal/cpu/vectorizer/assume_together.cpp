#include "metal/cpu/vectorizer/assume_together.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

bool has_effects(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return !call->doesNotAccessMemory();
  return instruction.mayWriteToMemory();
}

// Blocks before whose first instruction something may have had effects.
llvm::DenseSet<const BasicBlock*> blocks_after_effects(const llvm::Function& body) {
  llvm::DenseSet<const BasicBlock*> after;
  llvm::SmallVector<const BasicBlock*> work;
  for (const BasicBlock& block : body) {
    if (llvm::any_of(block, has_effects)) work.push_back(&block);
  }
  while (!work.empty()) {
    for (const BasicBlock* next : llvm::successors(work.pop_back_val())) {
      if (after.insert(next).second) work.push_back(next);
    }
  }
  return after;
}

bool is_division(const Instruction& instruction) {
  return (instruction.getOpcode() == Instruction::UDiv ||
          instruction.getOpcode() == Instruction::URem) &&
         instruction.getType()->isIntegerTy(32) &&
         !llvm::isa<llvm::Constant>(instruction.getOperand(0));
}

llvm::SmallVector<Instruction*> find_divisions(llvm::Function& body, const BodyShapes& shapes) {
  const llvm::DominatorTree dominators(body);
  const llvm::PostDominatorTree post_dominators(body);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  const auto late = blocks_after_effects(body);
  llvm::SmallVector<Instruction*> found;
  for (BasicBlock& block : body) {
    if (late.contains(&block)) continue;
    for (Instruction& instruction : block) {
      if (has_effects(instruction)) break;
      if (!is_division(instruction)) continue;
      const Shape index = analysis.shape(instruction.getOperand(0));
      if (index.is_pattern() && !index.is_uniform() && index.exact() &&
          llvm::is_sorted(index.offsets()) &&
          analysis.shape(instruction.getOperand(1)).is_uniform())
        found.push_back(&instruction);
    }
  }
  return found;
}

// A number that starts as an index and is divided in every turn of the loop.
bool takes_index_apart(const llvm::Loop& loop, const ShapeAnalysis& analysis) {
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy(32)) continue;
    const Shape start = analysis.shape(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
    if (!start.is_pattern() || start.is_uniform()) continue;
    for (const llvm::User* user : phi.users()) {
      const auto* division = llvm::dyn_cast<Instruction>(user);
      if (division && loop.contains(division) && is_division(*division) &&
          division->getOperand(0) == &phi)
        return true;
    }
  }
  return false;
}

}  // namespace

// In the first turn lanes have different numbers; from then on they may have the same.
bool peel_index_loops(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  simplify.run(body, analyses);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(body);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  llvm::SmallVector<llvm::Loop*> found;
  {
    const llvm::PostDominatorTree post_dominators(body);
    const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (loop->isInnermost() && loop->isLoopSimplifyForm() && llvm::canPeel(loop) &&
          takes_index_apart(*loop, analysis))
        found.push_back(loop);
    }
  }
  for (llvm::Loop* loop : found) {
    llvm::ValueToValueMapTy values;
    llvm::peelLoop(loop, 1, &loops, &analyses.getResult<llvm::ScalarEvolutionAnalysis>(body),
                   dominators, &analyses.getResult<llvm::AssumptionAnalysis>(body),
                   /*PreserveLCSSA=*/true, values);
  }
  return !found.empty();
}

llvm::Function* clone_assuming_together(llvm::Function& body, const BodyShapes& shapes) {
  const auto divisions = find_divisions(body, shapes);
  if (divisions.empty()) return nullptr;
  llvm::ValueToValueMapTy clones;
  llvm::Function* clone = llvm::CloneFunction(&body, clones);
  for (Instruction* division : divisions) {
    auto* copy = llvm::cast<Instruction>(clones[division]);
    llvm::IRBuilder<> b(copy);
    const bool quotient = copy->getOpcode() == Instruction::UDiv;
    auto callee = body.getParent()->getOrInsertFunction(
        quotient ? kTogetherQuotient : kTogetherRemainder,
        llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty(), b.getInt32Ty()}, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    copy->replaceAllUsesWith(b.CreateCall(callee, {copy->getOperand(0), copy->getOperand(1)}));
    copy->eraseFromParent();
  }
  return clone;
}

}  // namespace metal::cpu
