#include "metal/cuda/lane_order.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/matrix_calls.h"

namespace metal::cuda {
namespace {

using llvm::Value;

constexpr const char* kForMatrices = "metal-lanes-for-matrices";
constexpr uint64_t kLanesOfWarp = 32;

// Moves some bits of a number.
struct BitMove {
  uint32_t from;  // a mask
  int by;         // to the left
};
constexpr BitMove kToLane[] = {{0b10001, 0}, {0b00110, 1}, {0b01000, -2}};
constexpr BitMove kToThread[] = {{0b10001, 0}, {0b01100, -1}, {0b00010, 2}};

Value* move_bits(llvm::IRBuilder<>& b, Value* number, llvm::ArrayRef<BitMove> moves) {
  Value* moved = b.getInt32(0);
  for (const BitMove& move : moves) {
    Value* bits = b.CreateAnd(number, move.from);
    if (move.by > 0) bits = b.CreateShl(bits, move.by);
    if (move.by < 0) bits = b.CreateLShr(bits, -move.by);
    moved = b.CreateOr(moved, bits);
  }
  return moved;
}

// Exchanges the bits whose positions differ by `distance`; `low` has the lower one of each pair.
Value* exchange_bits(llvm::IRBuilder<>& b, Value* mask, uint32_t distance, uint32_t low) {
  Value* differ = b.CreateAnd(b.CreateXor(b.CreateLShr(mask, distance), mask), low);
  return b.CreateXor(mask, b.CreateOr(differ, b.CreateShl(differ, distance)));
}

}  // namespace

LaneOrder LaneOrder::choose(const llvm::Module& module) {
  const llvm::Function* product = module.getFunction(compiler::kMatrixProduct);
  return LaneOrder(product && !product->use_empty());
}

void LaneOrder::set(llvm::Function& entry) const {
  if (for_matrices_) entry.addFnAttr(kForMatrices);
}

LaneOrder LaneOrder::get(const llvm::Module& module) {
  return LaneOrder(
      llvm::any_of(module, [](const llvm::Function& f) { return f.hasFnAttribute(kForMatrices); }));
}

Value* LaneOrder::lane_of(llvm::IRBuilder<>& b, Value* thread) const {
  return for_matrices_ ? move_bits(b, thread, kToLane) : thread;
}

Value* LaneOrder::thread_of(llvm::IRBuilder<>& b, Value* lane) const {
  return for_matrices_ ? move_bits(b, lane, kToThread) : lane;
}

Value* LaneOrder::thread(llvm::IRBuilder<>& b) const {
  llvm::CallInst* lane = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  lane->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, kLanesOfWarp)));
  return thread_of(b, lane);
}

// The numbers are permuted by exchanging their bits 1 and 3, and then 1 and 2. Two bits of a mask
// are exchanged if their numbers differ in the two bits.
Value* LaneOrder::threads_of(llvm::IRBuilder<>& b, Value* lanes) const {
  if (!for_matrices_) return lanes;
  Value* exchanged = exchange_bits(b, lanes, 8 - 2, 0x00cc00cc);
  return exchange_bits(b, exchanged, 4 - 2, 0x0c0c0c0c);
}

}  // namespace metal::cuda
