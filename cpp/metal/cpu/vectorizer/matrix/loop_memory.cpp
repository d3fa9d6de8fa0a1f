#include "metal/cpu/vectorizer/matrix/loop_memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

// Whether a variable is only loaded, stored and handed to functions.
bool is_private(const llvm::AllocaInst& variable) {
  return llvm::all_of(variable.uses(), [&](const llvm::Use& use) {
    const llvm::User* user = use.getUser();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->isSimple();
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      return store->isSimple() && store->getPointerOperand() == &variable;
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    return call && call->isArgOperand(&use) && call->doesNotCapture(call->getArgOperandNo(&use));
  });
}

class LoopMemory {
 public:
  LoopMemory(llvm::AllocaInst& variable, const llvm::DominatorTree& dominators,
             const llvm::LoopInfo& loops)
      : variable_(variable), dominators_(dominators), loops_(loops) {}

  bool run() {
    bool changed = false;
    auto stores = users<llvm::StoreInst>();
    while (!stores.empty()) changed |= store_before_loop(*stores.pop_back_val(), stores);
    for (llvm::LoadInst* load : users<llvm::LoadInst>()) changed |= load_late(*load);
    return changed;
  }

 private:
  template <typename Kind>
  llvm::SmallVector<Kind*> users() const {
    llvm::SmallVector<Kind*> found;
    for (llvm::User* user : variable_.users()) {
      if (auto* one = llvm::dyn_cast<Kind>(user)) found.push_back(one);
    }
    return found;
  }

  bool all_writes(llvm::function_ref<bool(const Instruction&)> are) const {
    return llvm::all_of(variable_.users(), [&](const llvm::User* user) {
      return llvm::isa<llvm::LoadInst>(user) || are(*checked_cast<Instruction>(user));
    });
  }

  // Whether the variable holds the value wherever that can be used: it was loaded, and where every
  // write dominates the load, none runs between the load and what the load dominates.
  bool holds(const Value* value) const {
    if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    return load && load->getPointerOperand() == &variable_ &&
           all_writes([&](const auto& write) { return dominators_.dominates(&write, load); });
  }

  // Whether each iteration of the loop that starts with the phi stores it before it does anything
  // else with the variable.
  bool is_first_of_turn(const llvm::StoreInst& store, const llvm::PHINode& phi) const {
    const llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
    return loop && loop->getHeader() == phi.getParent() && loop->contains(&store) &&
           llvm::all_of(variable_.users(), [&](const llvm::User* user) {
             const auto* other = checked_cast<Instruction>(user);
             return other == &store || !loop->contains(other) ||
                    dominators_.dominates(&store, other);
           });
  }

  // New stores, which may leave a loop around this one, go to `stores`.
  bool store_before_loop(llvm::StoreInst& store, llvm::SmallVectorImpl<llvm::StoreInst*>& stores) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(store.getValueOperand());
    if (!phi || !is_first_of_turn(store, *phi)) return false;
    llvm::SmallVector<unsigned> missing;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      if (holds(phi->getIncomingValue(i))) continue;
      if (!phi->getIncomingBlock(i)->getSingleSuccessor()) return false;
      missing.push_back(i);
    }
    if (missing.size() == phi->getNumIncomingValues()) return false;
    for (unsigned i : missing) {
      llvm::IRBuilder<> b(phi->getIncomingBlock(i)->getTerminator());
      stores.push_back(
          b.CreateAlignedStore(phi->getIncomingValue(i), &variable_, store.getAlign()));
    }
    store.eraseFromParent();
    llvm::RecursivelyDeleteDeadPHINode(phi);
    return true;
  }

  // Just before the first use, if only another block uses it.
  bool load_late(llvm::LoadInst& load) const {
    if (load.use_empty() || !holds(&load)) return false;
    auto* first = checked_cast<Instruction>(*load.user_begin());
    for (llvm::User* user : load.users()) {
      auto* other = checked_cast<Instruction>(user);
      if (llvm::isa<llvm::PHINode>(other) || other->getParent() != first->getParent()) return false;
      if (other->comesBefore(first)) first = other;
    }
    if (first->getParent() == load.getParent()) return false;
    load.moveBefore(first);
    return true;
  }

  llvm::AllocaInst& variable_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
};

}  // namespace

llvm::PreservedAnalyses LoopMemoryPass::run(llvm::Function& wide,
                                            llvm::FunctionAnalysisManager& analyses) {
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(wide);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(wide);
  llvm::SmallVector<llvm::AllocaInst*> variables;
  for (Instruction& instruction : wide.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable && is_private(*variable)) variables.push_back(variable);
  }
  bool changed = false;
  for (llvm::AllocaInst* variable : variables)
    changed |= LoopMemory(*variable, dominators, loops).run();
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
