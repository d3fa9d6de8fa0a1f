#include "metal/compiler/uniformity.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

using WrittenObjects = llvm::SmallPtrSet<const llvm::Value*, 8>;

bool differs_between_threads(Builtin builtin) {
  switch (builtin) {
    case Builtin::ThreadPositionInGrid:
    case Builtin::ThreadPositionInThreadgroup:
    case Builtin::ThreadIndexInThreadgroup:
    case Builtin::ThreadIndexInSimdgroup:
    case Builtin::ThreadIndexInQuadgroup:
    case Builtin::SimdgroupIndexInThreadgroup:
    case Builtin::QuadgroupIndexInThreadgroup:
      return true;
    default:
      return false;
  }
}

bool is_index_in_simdgroup(Builtin builtin) {
  return builtin == Builtin::ThreadIndexInSimdgroup || builtin == Builtin::ThreadIndexInQuadgroup;
}

// The objects that the kernel writes, with a null pointer for an unknown one.
WrittenObjects find_written(const llvm::Function& kernel) {
  WrittenObjects written;
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (!instruction.mayWriteToMemory()) continue;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      pointer = atomic->getPointerOperand();
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (callee && callee->getName().starts_with(kRuntimePrefix) && callee->isDeclaration())
        continue;  // barriers and SIMD-group functions
    }
    const llvm::Value* object = pointer ? llvm::getUnderlyingObject(pointer) : nullptr;
    const bool known =
        object && llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::AllocaInst>(object);
    written.insert(known ? object : nullptr);
  }
  return written;
}

// Tells LLVM's analysis which instructions are sources of divergence.
class KernelSources final : public llvm::TargetTransformInfoImplCRTPBase<KernelSources> {
 public:
  KernelSources(const llvm::Function& kernel, Among among)
      : TargetTransformInfoImplCRTPBase(kernel.getParent()->getDataLayout()),
        among_(among),
        written_(find_written(kernel)) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return !reads_alike(*load);
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) return !returns_alike(*call);
    // A thread's own memory, or memory that another thread may have just changed.
    return llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value);
  }

 private:
  // Whether loads from a uniform address give all these threads one value.
  bool reads_alike(const llvm::LoadInst& load) const {
    if (!load.isSimple()) return false;
    switch (static_cast<AddressSpace>(load.getPointerAddressSpace())) {
      case AddressSpace::Constant:
        return true;
      case AddressSpace::Threadgroup:
        return among_ == Among::SimdGroups;  // after a barrier they do, unless there is a race
      default:
        return !written_.contains(nullptr) &&
               !written_.contains(llvm::getUnderlyingObject(load.getPointerOperand()));
    }
  }

  bool returns_alike(const llvm::CallBase& call) const {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return false;
    if (const auto found = as_builtin_call(call)) {
      return !differs_between_threads(found->builtin) ||
             (among_ == Among::SimdGroups && is_index_in_simdgroup(found->builtin));
    }
    if (callee->getName().starts_with(kRuntimePrefix)) return among_ == Among::SimdGroups;
    return call.doesNotAccessMemory() && !call.isConvergent();
  }

  Among among_;
  WrittenObjects written_;
};

}  // namespace

Uniformity::Uniformity(llvm::Function& kernel, Among among)
    : Uniformity(kernel, [among](const llvm::Function& function) {
        return llvm::TargetTransformInfo(KernelSources(function, among));
      }) {}

Uniformity::Uniformity(llvm::Function& kernel, Sources sources) {
  analyses_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses_.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses_.registerPass([] { return llvm::CycleAnalysis(); });
  analyses_.registerPass([&sources] { return llvm::TargetIRAnalysis(sources); });
  analyses_.registerPass([] { return llvm::UniformityInfoAnalysis(); });
  dominators_ = &analyses_.getResult<llvm::DominatorTreeAnalysis>(kernel);
  info_ = &analyses_.getResult<llvm::UniformityInfoAnalysis>(kernel);
}

}  // namespace metal::compiler
