#include "metal/cpu/vectorizer/control/interchange_loop.h"

#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/counted_loop.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::PHINode;
using llvm::SCEV;
using llvm::Value;

constexpr uint64_t kFar = 4096;   // bytes; a page of memory
constexpr int kMaxRepeated = 64;  // instructions outside the loop, for each iteration

class LoopFinder {
 public:
  LoopFinder(llvm::Function& body, llvm::FunctionAnalysisManager& analyses)
      : body_(body),
        loops_(analyses.getResult<llvm::LoopAnalysis>(body)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(body)),
        aliases_(analyses.getResult<llvm::AAManager>(body)) {}

  std::optional<CountedLoop> find() {
    if (loops_.getTopLevelLoops().size() != 1) return std::nullopt;
    loop_ = loops_.getTopLevelLoops().front();
    if (!loop_->isLoopSimplifyForm() || !writes_far_apart() || !can_repeat_rest() ||
        !can_be_interchanged())
      return std::nullopt;
    return find_counted_loop(*loop_, evolution_, Threads::OfRow);
  }

 private:
  // Otherwise memory is accessed in order already.
  bool writes_far_apart() {
    StrideInLoop strides(*loop_, evolution_);
    return any_in_loop([&](Instruction& instruction) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || !is_device_memory(store->getPointerOperand())) return false;
      const SCEV* stride = strides.of(store->getPointerOperand());
      if (!stride || stride->isZero()) return false;
      const auto* bytes = llvm::dyn_cast<llvm::SCEVConstant>(stride);
      return !bytes || bytes->getAPInt().abs().uge(kFar);
    });
  }

  bool can_be_interchanged() {
    return !any_in_loop([&](Instruction& instruction) {
      const bool used_outside = llvm::any_of(instruction.users(), [&](llvm::User* user) {
        return !loop_->contains(checked_cast<Instruction>(user));
      });
      return used_outside || !can_take_turns(instruction);
    });
  }

  // Whether what is outside the loop may run for each iteration.
  bool can_repeat_rest() {
    const auto outside = llvm::count_if(llvm::instructions(body_), [&](Instruction& instruction) {
      return !loop_->contains(&instruction);
    });
    return outside <= kMaxRepeated &&
           llvm::none_of(llvm::instructions(body_), [&](Instruction& instruction) {
             if (loop_->contains(&instruction)) return false;
             if (llvm::isa<llvm::AllocaInst>(instruction) || has_effects(instruction)) return true;
             auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
             return load && !reads_constants(*load) && any_in_loop([&](Instruction& other) {
                      return llvm::isModSet(
                          aliases_.getModRefInfo(&other, llvm::MemoryLocation::get(load)));
                    });
           });
  }

  bool any_in_loop(llvm::function_ref<bool(Instruction&)> test) const {
    return llvm::any_of(loop_->blocks(), [&](BasicBlock* block) {
      return llvm::any_of(*block, [&](Instruction& instruction) { return test(instruction); });
    });
  }

  llvm::Function& body_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::AAResults& aliases_;
  llvm::Loop* loop_ = nullptr;
};

// Clones the body into a function with another result, and perhaps the number of an iteration as
// one more argument.
llvm::Function* clone_as(llvm::Function& body, llvm::Type* result, bool has_number,
                         const llvm::Twine& name) {
  llvm::SmallVector<llvm::Type*> types(body.getFunctionType()->params());
  if (has_number) types.push_back(llvm::Type::getInt32Ty(body.getContext()));
  auto* clone = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                       llvm::Function::InternalLinkage, name, body.getParent());
  llvm::ValueToValueMapTy values;
  for (llvm::Argument& argument : body.args()) {
    values[&argument] = clone->getArg(argument.getArgNo());
    clone->getArg(argument.getArgNo())->setName(argument.getName());
  }
  if (has_number) clone->getArg(kIterationArgument)->setName("iteration");
  llvm::SmallVector<llvm::ReturnInst*> returns;
  llvm::CloneFunctionInto(clone, &body, values, llvm::CloneFunctionChangeType::LocalChangesOnly,
                          returns);
  clone->setLinkage(llvm::Function::InternalLinkage);  // the body's own linkage was copied
  return clone;
}

// Adds code at the end of the block before the loop.
class BeforeLoop {
 public:
  BeforeLoop(const CountedLoop& counted, llvm::ScalarEvolution& evolution)
      : counted_(counted),
        loop_(*counted.loop),
        b_(loop_.getLoopPreheader()->getTerminator()),
        numbers_(loop_, evolution, b_) {}

  // Replaces the loop by the iteration with this number.
  void run_one(Value* iteration) {
    BasicBlock *before = loop_.getLoopPreheader(), *latch = loop_.getLoopLatch();
    BasicBlock *header = loop_.getHeader(), *exit = loop_.getExitBlock();
    llvm::SmallMapVector<PHINode*, Value*, 4> values;
    for (PHINode& phi : header->phis()) {
      values[&phi] =
          numbers_.in_iteration(phi, start_of(phi), numbers_.step_of(phi), iteration, &counted_);
    }
    Value* step = counted_.compares_next ? nullptr : numbers_.step_of(*counted_.number);
    Value* runs = runs_iteration(b_, counted_, values[counted_.number], step, iteration);
    for (const auto& [phi, value] : values) {
      phi->replaceAllUsesWith(value);
      phi->eraseFromParent();
    }
    for (PHINode& phi : exit->phis()) phi.addIncoming(phi.getIncomingValueForBlock(latch), before);
    llvm::ReplaceInstWithInst(before->getTerminator(),
                              llvm::BranchInst::Create(header, exit, runs));
    llvm::ReplaceInstWithInst(latch->getTerminator(), llvm::BranchInst::Create(exit));
  }

  // Replaces the loop, and what comes after it, by a return of InterchangedLoop::count.
  void return_count() {
    llvm::Function& code = *loop_.getHeader()->getParent();
    Value* count =
        count_iterations(b_, counted_, start_of(*counted_.number),
                         numbers_.step_of(*counted_.number), code.getArg(kGroupArgument));
    llvm::ReplaceInstWithInst(loop_.getLoopPreheader()->getTerminator(),
                              llvm::ReturnInst::Create(code.getContext(), count));
  }

 private:
  Value* start_of(const PHINode& phi) const {
    return phi.getIncomingValueForBlock(loop_.getLoopPreheader());
  }

  const CountedLoop& counted_;
  const llvm::Loop& loop_;
  llvm::IRBuilder<> b_;
  LoopNumbers numbers_;
};

// Changes the only loop of a clone.
void change_loop(llvm::Function& clone, Optimizer& optimizer,
                 llvm::function_ref<void(BeforeLoop&)> change) {
  llvm::FunctionAnalysisManager& analyses = optimizer.functions();
  analyses.clear();
  const auto counted = LoopFinder(clone, analyses).find();
  if (!counted) internal_error("a clone has another loop than its body");
  {
    BeforeLoop before(*counted, analyses.getResult<llvm::ScalarEvolutionAnalysis>(clone));
    change(before);
  }
  llvm::removeUnreachableBlocks(clone);
  optimizer.tidy(clone);
  compiler::verify(clone, "interchange-loop");
}

llvm::Function* make_iteration(llvm::Function& body, Optimizer& optimizer) {
  llvm::Function* clone =
      clone_as(body, body.getReturnType(), /*has_number=*/true, "kernel.iteration");
  change_loop(*clone, optimizer,
              [&](BeforeLoop& before) { before.run_one(clone->getArg(kIterationArgument)); });
  return clone;
}

llvm::Function* make_count(llvm::Function& body, Optimizer& optimizer) {
  llvm::Type* number = llvm::Type::getInt32Ty(body.getContext());
  llvm::Function* clone = clone_as(body, number, /*has_number=*/false, "kernel.iterations");
  for (BasicBlock& block : *clone) {
    // The first thread of the row has no iteration.
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator()))
      llvm::ReplaceInstWithInst(
          block.getTerminator(),
          llvm::ReturnInst::Create(body.getContext(), llvm::ConstantInt::get(number, 0)));
  }
  change_loop(*clone, optimizer, [](BeforeLoop& before) { before.return_count(); });
  return clone;
}

}  // namespace

InterchangedLoop interchange_loop(llvm::Function& body, Optimizer& optimizer) {
  optimizer.functions().clear();
  if (!LoopFinder(body, optimizer.functions()).find()) return {};
  return {make_iteration(body, optimizer), make_count(body, optimizer)};
}

}  // namespace metal::cpu
