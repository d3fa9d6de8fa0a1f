#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cuda/lane_functions.h"
#include "metal/cuda/lane_operations.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/reconvergence.h"

namespace metal::cuda {
namespace {

using llvm::CallInst;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// For each block, the lanes that reached its first operation.
using Masks = llvm::DenseMap<const llvm::BasicBlock*, Value*>;

// Lowers one call.
class LaneOperation {
 public:
  LaneOperation(CallInst& call, LaneOrder order, bool convergent, Masks& masks)
      : b_(&call), call_(call), order_(order), convergent_(convergent), masks_(masks) {}

  // The value that replaces the call, if it has a result.
  Value* lower(llvm::StringRef name) {
    if (name == "barrier") return barrier();
    if (name == "simd_active_mask") return order_.threads_of(b_, mask());
    if (name == "simd_ballot") return ballot();
    if (name.starts_with("simd_shuffle_")) return shuffle();
    if (compiler::is_matrix_product(call_)) return multiply_accumulate();
    llvm::Function* function = lane_function(*call_.getModule(), name, call_.getType(), order_);
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

  Value* ballot() {
    return order_.threads_of(
        b_, b_.CreateIntrinsic(Intrinsic::nvvm_vote_ballot_sync, {}, {mask(), operand(0)}));
  }

  // A lane whose source is inactive keeps its own value.
  Value* shuffle() {
    Value* lanes = mask();
    Value* lane = order_.lane_of(b_, b_.CreateAnd(operand(1), 31));
    Value* there = b_.CreateTrunc(b_.CreateLShr(lanes, lane), b_.getInt1Ty());
    return b_.CreateSelect(there, create_shuffle(b_, lanes, operand(0), lane), operand(0));
  }

  // In the order for matrices, lane 4 * row + c holds the elements in the columns 2 * c and
  // 2 * c + 1.
  Value* multiply_accumulate() {
    Value* lanes = mask();
    Value* lane = b_.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
    Value* row = b_.CreateAnd(lane, 0b11100);
    Value* column = b_.CreateAnd(lane, 0b00011);
    Value* sums[2] = {operand(4), operand(5)};
    for (uint32_t k = 0; k < 8; ++k) {
      Value* a = create_shuffle(b_, lanes, operand(k & 1), b_.CreateOr(row, b_.getInt32(k / 2)));
      for (unsigned x = 0; x < 2; ++x) {
        Value* b =
            create_shuffle(b_, lanes, operand(2 + x), b_.CreateOr(column, b_.getInt32(4 * k)));
        sums[x] = b_.CreateIntrinsic(Intrinsic::fma, {b_.getFloatTy()}, {a, b, sums[x]});
      }
    }
    Value* results = llvm::PoisonValue::get(call_.getType());
    for (unsigned x = 0; x < 2; ++x) results = b_.CreateInsertValue(results, sums[x], x);
    return results;
  }

  llvm::IRBuilder<> b_;
  CallInst& call_;
  LaneOrder order_;
  bool convergent_;
  Masks& masks_;
};

}  // namespace

void lower_lane_operations(llvm::Function& kernel, llvm::FunctionAnalysisManager& analyses) {
  const bool reconverged = reconverge(kernel, analyses);
  const compiler::Convergence convergence = find_convergence(kernel);
  const LaneOrder order = LaneOrder::get(*kernel.getParent());
  Masks masks;
  for (llvm::Function& function : llvm::make_early_inc_range(*kernel.getParent())) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      const llvm::StringRef name = operation_of(instruction);
      if (name.empty()) continue;
      auto& call = checked_cast<CallInst>(instruction);
      // A function that is called may be called from divergent code.
      const bool convergent =
          !reconverged && &function == &kernel && convergence.is_convergent(*call.getParent());
      Value* value = LaneOperation(call, order, convergent, masks).lower(name);
      if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(value);
      call.eraseFromParent();
    }
  }
}

}  // namespace metal::cuda
