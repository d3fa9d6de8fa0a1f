#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/convergence.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cuda/lane_functions.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

using llvm::CallInst;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// The name after `__metal_` in calls of barriers and SIMD-group functions; empty for other
// instructions.
llvm::StringRef operation_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration()) return "";
  llvm::StringRef name = callee->getName();
  return name.consume_front(compiler::kRuntimePrefix) ? name : "";
}

// For each block, the lanes that reached its first operation.
using Masks = llvm::DenseMap<const llvm::BasicBlock*, Value*>;

// Lowers one call.
class LaneOperation {
 public:
  LaneOperation(CallInst& call, bool convergent, Masks& masks)
      : b_(&call), call_(call), convergent_(convergent), masks_(masks) {}

  // The value that replaces the call, if it has a result.
  Value* lower(llvm::StringRef name) {
    if (name == "barrier") return barrier();
    if (name == "simd_active_mask") return mask();
    if (name == "simd_ballot")
      return b_.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {mask(), operand(0)});
    if (name.starts_with("simd_shuffle_")) return shuffle();
    if (name == "simdgroup_multiply_accumulate_f32") return multiply_accumulate();
    llvm::Function* function = lane_function(*call_.getModule(), name, call_.getType());
    if (!function) throw CompileError("error: no code for '" + name.str() + "' on this device\n");
    return b_.CreateCall(function, {operand(0), mask()});
  }

 private:
  Value* operand(unsigned i) { return call_.getArgOperand(i); }

  // In convergent blocks, waits for all lanes that have not ended. In others, the active lanes are
  // those that the hardware runs together.
  Value* mask() {
    Value*& mask = masks_[call_.getParent()];
    if (mask) return mask;
    return mask = convergent_ ? b_.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {},
                                                   {b_.getInt32(0xffffffff), b_.getTrue()})
                              : b_.CreateIntrinsic(Intrinsic::nvvm_activemask, {}, {});
  }

  Value* barrier() {
    const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(operand(0));
    if (scope && scope->isZero())
      return b_.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {mask()});
    return b_.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  }

  // A lane whose source is inactive keeps its own value.
  Value* shuffle() {
    Value* lanes = mask();
    Value* lane = b_.CreateAnd(operand(1), 31);
    Value* there = b_.CreateTrunc(b_.CreateLShr(lanes, lane), b_.getInt1Ty());
    return b_.CreateSelect(there, create_shuffle(b_, lanes, operand(0), lane), operand(0));
  }

  // If a lane's number has the bits 43210, the lane holds the elements in row 421 and column 30x,
  // for x = 0 and 1.
  Value* multiply_accumulate() {
    Value* lanes = mask();
    Value* lane = b_.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
    Value* row = b_.CreateAnd(lane, 0b10110);
    Value* column = b_.CreateAnd(lane, 0b01001);
    Value* sums[2] = {operand(4), operand(5)};
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t as_column = (k & 4) << 1 | (k & 2) >> 1;
      const uint32_t as_row = (k & 4) << 2 | (k & 3) << 1;
      Value* a =
          create_shuffle(b_, lanes, operand(k & 1), b_.CreateOr(row, b_.getInt32(as_column)));
      for (unsigned x = 0; x < 2; ++x) {
        Value* b =
            create_shuffle(b_, lanes, operand(2 + x), b_.CreateOr(column, b_.getInt32(as_row)));
        sums[x] = b_.CreateIntrinsic(Intrinsic::fma, {b_.getFloatTy()}, {a, b, sums[x]});
      }
    }
    Value* bits[2];
    for (unsigned x = 0; x < 2; ++x)
      bits[x] = b_.CreateZExt(b_.CreateBitCast(sums[x], b_.getInt32Ty()), b_.getInt64Ty());
    return b_.CreateOr(bits[0], b_.CreateShl(bits[1], 32));
  }

  llvm::IRBuilder<> b_;
  CallInst& call_;
  bool convergent_;
  Masks& masks_;
};

}  // namespace

void lower_lane_operations(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  const auto waits = [](const llvm::BasicBlock& block) {
    return llvm::any_of(block, [](const llvm::Instruction& i) { return !operation_of(i).empty(); });
  };
  const compiler::Convergence convergence(
      kernel, analyses.getResult<llvm::UniformityInfoAnalysis>(kernel), waits);
  Masks masks;
  for (llvm::Function& function : llvm::make_early_inc_range(*kernel.getParent())) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      const llvm::StringRef name = operation_of(instruction);
      if (name.empty()) continue;
      auto& call = checked_cast<CallInst>(instruction);
      // A function that is called may be called from divergent code.
      const bool convergent = &function == &kernel && convergence.is_convergent(*call.getParent());
      Value* value = LaneOperation(call, convergent, masks).lower(name);
      if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(value);
      call.eraseFromParent();
    }
  }
}

}  // namespace metal::cuda
