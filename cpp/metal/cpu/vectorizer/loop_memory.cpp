#include "metal/cpu/vectorizer/loop_memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

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

// Whether all that its block does before is to store.
bool is_first(const llvm::StoreInst& store) {
  for (const Instruction* before = store.getPrevNode(); before; before = before->getPrevNode()) {
    if (before->mayReadFromMemory() ||
        (before->mayWriteToMemory() && !llvm::isa<llvm::StoreInst>(before)))
      return false;
  }
  return true;
}

class LoopMemory {
 public:
  LoopMemory(llvm::AllocaInst& variable, const llvm::DominatorTree& dominators)
      : variable_(variable), dominators_(dominators) {}

  bool run() {
    bool changed = false;
    for (llvm::StoreInst* store : users<llvm::StoreInst>()) changed |= store_before_loop(*store);
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
      return llvm::isa<llvm::LoadInst>(user) || are(*llvm::cast<Instruction>(user));
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

  bool store_before_loop(llvm::StoreInst& store) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(store.getValueOperand());
    if (!phi || phi->getParent() != store.getParent() || !is_first(store)) return false;
    llvm::SmallVector<unsigned> missing;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      if (holds(phi->getIncomingValue(i))) continue;
      if (!phi->getIncomingBlock(i)->getSingleSuccessor()) return false;
      missing.push_back(i);
    }
    if (missing.size() == phi->getNumIncomingValues()) return false;
    for (unsigned i : missing) {
      llvm::IRBuilder<> b(phi->getIncomingBlock(i)->getTerminator());
      b.CreateAlignedStore(phi->getIncomingValue(i), &variable_, store.getAlign());
    }
    store.eraseFromParent();
    llvm::RecursivelyDeleteDeadPHINode(phi);
    return true;
  }

  // Just before the first use, if only another block uses it.
  bool load_late(llvm::LoadInst& load) const {
    if (load.use_empty() || !holds(&load)) return false;
    auto* first = llvm::cast<Instruction>(*load.user_begin());
    for (llvm::User* user : load.users()) {
      auto* other = llvm::cast<Instruction>(user);
      if (llvm::isa<llvm::PHINode>(other) || other->getParent() != first->getParent()) return false;
      if (other->comesBefore(first)) first = other;
    }
    if (first->getParent() == load.getParent()) return false;
    load.moveBefore(first);
    return true;
  }

  llvm::AllocaInst& variable_;
  const llvm::DominatorTree& dominators_;
};

}  // namespace

llvm::PreservedAnalyses LoopMemoryPass::run(llvm::Function& wide,
                                            llvm::FunctionAnalysisManager& analyses) {
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(wide);
  llvm::SmallVector<llvm::AllocaInst*> variables;
  for (Instruction& instruction : wide.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable && is_private(*variable)) variables.push_back(variable);
  }
  bool changed = false;
  for (llvm::AllocaInst* variable : variables) changed |= LoopMemory(*variable, dominators).run();
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
