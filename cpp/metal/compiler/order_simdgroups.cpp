// Adds barriers to kernels that lack one between a read of threadgroup memory by all SIMD-groups
// and a write that overwrites it. Such kernels work on Apple's hardware, where SIMD-groups run at
// the same pace. Here, one may run to its next barrier before another starts.
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/barriers.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/convergence.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/uniformity.h"
#include "metal/driver.h"

namespace metal::compiler {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using Objects = llvm::SmallPtrSet<const Value*, 4>;

bool waits(const BasicBlock& block) {
  return llvm::any_of(block, [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && call->isConvergent();
  });
}

bool is_in_threadgroup_memory(const Value& pointer) {
  return pointer.getType()->getPointerAddressSpace() ==
         static_cast<unsigned>(AddressSpace::Threadgroup);
}

// The variable or argument that a pointer is based on; null if it is not known.
const Value* object_of(const Value& pointer) {
  const Value* object = llvm::getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  return llvm::isa<llvm::GlobalVariable, llvm::Argument>(object) ? object : nullptr;
}

class Ordering {
 public:
  explicit Ordering(llvm::Function& kernel)
      : kernel_(kernel),
        among_threads_(kernel, Among::Threads),
        among_simdgroups_(kernel, Among::SimdGroups),
        all_threads_(kernel, among_threads_.info(), waits),
        all_simdgroups_(kernel, among_simdgroups_.info(), waits) {}

  void run() {
    for (;;) {
      find_pending();
      Instruction* place = find_place();
      if (!place) return;
      llvm::IRBuilder<> builder(place);
      create_threadgroup_barrier(builder)->setMetadata(kOrderBarrier,
                                                       llvm::MDNode::get(kernel_.getContext(), {}));
    }
  }

 private:
  // Whether a condition lets a single SIMD-group take an edge: `simdgroup == 0`, `thread < 32`.
  bool selects_one(const Value& condition, bool holds) const {
    using namespace llvm::PatternMatch;
    const Value *left, *right;
    if (holds ? match(&condition, m_LogicalAnd(m_Value(left), m_Value(right)))
              : match(&condition, m_LogicalOr(m_Value(left), m_Value(right))))
      return selects_one(*left, holds) || selects_one(*right, holds);
    const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&condition);
    if (!comparison || among_simdgroups_.is_uniform(condition)) return false;
    const auto predicate = holds ? comparison->getPredicate() : comparison->getInversePredicate();
    if (predicate == llvm::CmpInst::ICMP_EQ) return true;
    const llvm::APInt* limit;
    return (predicate == llvm::CmpInst::ICMP_ULT || predicate == llvm::CmpInst::ICMP_SLT) &&
           match(comparison->getOperand(1), m_APInt(limit)) && limit->sle(kThreadExecutionWidth);
  }

  bool runs_in_one(const BasicBlock& block) const {
    const auto& dominators = among_simdgroups_.dominators();
    for (const auto* node = dominators.getNode(&block); node->getIDom(); node = node->getIDom()) {
      const BasicBlock* above = node->getIDom()->getBlock();
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(above->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      for (unsigned i : {0, 1}) {
        const llvm::BasicBlockEdge edge(above, branch->getSuccessor(i));
        if (selects_one(*branch->getCondition(), i == 0) && dominators.dominates(edge, &block))
          return true;
      }
    }
    return false;
  }

  // The object that SIMD-groups read at this instruction, if all read the same elements. LLVM may
  // have moved what all of them read to where a condition needs it.
  const Value* uniform_read(const Instruction& instruction) const {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->isSimple() || !is_in_threadgroup_memory(*load->getPointerOperand()) ||
        !among_simdgroups_.is_uniform(*load->getPointerOperand()) ||
        (!all_simdgroups_.is_convergent(*load->getParent()) && runs_in_one(*load->getParent())))
      return nullptr;
    return object_of(*load->getPointerOperand());
  }

  void pass(const Instruction& instruction, Objects& pending) const {
    if (is_threadgroup_barrier(instruction)) pending.clear();
    if (const Value* object = uniform_read(instruction)) pending.insert(object);
  }

  // Finds the objects that have been read since the last barrier, at the start of each block.
  void find_pending() {
    pending_.clear();
    llvm::SmallVector<const BasicBlock*> work;
    for (const BasicBlock& block : kernel_) work.push_back(&block);
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      const Objects end = pending_at(*block->getTerminator());
      for (const BasicBlock* successor : llvm::successors(block)) {
        Objects& start = pending_[successor];
        const auto before = start.size();
        start.insert(end.begin(), end.end());
        if (start.size() != before) work.push_back(successor);
      }
    }
  }

  Objects pending_at(const Instruction& place) const {
    Objects pending = pending_.lookup(place.getParent());
    for (const Instruction& instruction : *place.getParent()) {
      if (&instruction == &place) break;
      pass(instruction, pending);
    }
    return pending;
  }

  // Where a barrier is needed before some store: at the last place that all threads reach.
  Instruction* find_place() const {
    for (Instruction& instruction : llvm::instructions(kernel_)) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || !is_in_threadgroup_memory(*store->getPointerOperand())) continue;
      Instruction* place = last_common_place(instruction);
      if (!place || all_threads_.is_leaving(*place->getParent())) continue;
      const Objects pending = pending_at(*place);
      const Value* object = object_of(*store->getPointerOperand());
      if (object ? pending.contains(object) : !pending.empty()) return place;
    }
    return nullptr;
  }

  Instruction* last_common_place(Instruction& store) const {
    if (all_threads_.is_convergent(*store.getParent())) return &store;
    const auto* node = among_threads_.dominators().getNode(store.getParent());
    while (node && !all_threads_.is_convergent(*node->getBlock())) node = node->getIDom();
    return node ? node->getBlock()->getTerminator() : nullptr;
  }

  llvm::Function& kernel_;
  Uniformity among_threads_;
  Uniformity among_simdgroups_;
  Convergence all_threads_;
  Convergence all_simdgroups_;
  llvm::DenseMap<const BasicBlock*, Objects> pending_;
};

bool has_threadgroup_barrier(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), is_threadgroup_barrier);
}

}  // namespace

void order_simdgroups(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && has_threadgroup_barrier(function)) Ordering(function).run();
  }
}

}  // namespace metal::compiler
