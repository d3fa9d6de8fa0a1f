#include "metal/cuda/warp_uniformity.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/cuda/lane_order.h"
#include "metal/cuda/lower.h"
#include "metal/driver.h"

namespace metal::cuda {
namespace {

namespace Intrinsic = llvm::Intrinsic;
using namespace llvm::PatternMatch;

bool differs_between_lanes(Intrinsic::ID id) {
  switch (id) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    case Intrinsic::nvvm_read_ptx_sreg_laneid:
      return true;
    default:
      return false;
  }
}

// Whether loads from a uniform address give all lanes one value. Of a thread's memory, parameters
// of the launch are alike, and no thread changes them, as they are buffers in MSL's `constant`
// memory.
bool reads_alike(const llvm::LoadInst& load) {
  if (!load.isSimple()) return false;
  const unsigned space = load.getPointerAddressSpace();
  if (space == kGlobal || space == kShared) return true;
  const auto* parameter =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return parameter && parameter->hasByValAttr();
}

// Tells LLVM's analysis which instructions are sources of divergence. NVPTX's own description takes
// all calls for divergent, minima of integers too.
class WarpSources final : public llvm::TargetTransformInfoImplCRTPBase<WarpSources> {
 public:
  explicit WarpSources(const llvm::Function& kernel)
      : TargetTransformInfoImplCRTPBase(kernel.getParent()->getDataLayout()),
        whole_warps_(LaneOrder::get(*kernel.getParent()).is_for_matrices()) {}

  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return !reads_alike(*load);
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) {
      return differs_between_lanes(call->getIntrinsicID()) || !call->doesNotAccessMemory() ||
             call->isConvergent();
    }
    return llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value);
  }

  // In blocks of one dimension, the lanes of a warp have the same position but for its lowest bits.
  bool isAlwaysUniform(const llvm::Value* value) const {
    if (!whole_warps_) return false;
    const llvm::Value* shifted = value;
    const llvm::APInt* mask = nullptr;
    if (!match(value, m_And(m_Value(shifted), m_APInt(mask)))) shifted = value;
    const llvm::Value* position = shifted;
    uint64_t distance = 0;
    if (!match(shifted, m_LShr(m_Value(position), m_ConstantInt(distance)))) position = shifted;
    if (!match(position, m_Intrinsic<Intrinsic::nvvm_read_ptx_sreg_tid_x>())) return false;
    const uint64_t bits = mask ? mask->getLimitedValue() : UINT32_MAX;
    return distance < 32 && (bits << distance) % kThreadExecutionWidth == 0;
  }

 private:
  bool whole_warps_;
};

}  // namespace

compiler::Uniformity find_warp_uniformity(llvm::Function& kernel) {
  return compiler::Uniformity(kernel, [](const llvm::Function& function) {
    return llvm::TargetTransformInfo(WarpSources(function));
  });
}

}  // namespace metal::cuda
