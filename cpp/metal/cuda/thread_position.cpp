#include "metal/cuda/thread_position.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "metal/compiler/internal_check.h"
#include "metal/driver.h"

namespace metal::cuda {
namespace {

using compiler::Builtin;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

constexpr Intrinsic::ID kThread[] = {Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                     Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                     Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr Intrinsic::ID kBlock[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                    Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                    Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr Intrinsic::ID kBlockSize[] = {Intrinsic::nvvm_read_ptx_sreg_ntid_x,
                                        Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                        Intrinsic::nvvm_read_ptx_sreg_ntid_z};

Value* parts(llvm::IRBuilder<>& b, Value* count, uint32_t size) {
  return b.CreateUDiv(b.CreateAdd(count, b.getInt32(size - 1)), b.getInt32(size));
}

// The number of blocks that cover `count` threads. `count` is not 0 and may be the largest integer.
Value* blocks(llvm::IRBuilder<>& b, Value* count, Value* size) {
  return b.CreateAdd(b.CreateUDiv(b.CreateSub(count, b.getInt32(1)), size), b.getInt32(1));
}

Value* product(llvm::IRBuilder<>& b, Value* const (&factors)[3]) {
  return b.CreateMul(b.CreateMul(factors[0], factors[1]), factors[2]);
}

// Splits an index into a position in a box of this size.
void divide(llvm::IRBuilder<>& b, Value* index, Value* const (&size)[3], Value* (&position)[3]) {
  Value* row = b.CreateUDiv(index, size[0]);
  position[0] = b.CreateURem(index, size[0]);
  position[1] = b.CreateURem(row, size[1]);
  position[2] = b.CreateUDiv(row, size[1]);
}

}  // namespace

Value* read_thread(llvm::IRBuilder<>& b, unsigned dimension) {
  return b.CreateIntrinsic(kThread[dimension], {}, {});
}
Value* read_block(llvm::IRBuilder<>& b, unsigned dimension) {
  return b.CreateIntrinsic(kBlock[dimension], {}, {});
}
Value* read_block_size(llvm::IRBuilder<>& b, unsigned dimension) {
  return b.CreateIntrinsic(kBlockSize[dimension], {}, {});
}

ThreadPosition::ThreadPosition(llvm::IRBuilder<>& b, const GridArguments& grid, LaneOrder order)
    : grid_(grid), order_(order) {
  for (unsigned i = 0; i < 3; ++i) {
    Value* given = grid.threads_per_threadgroup[i];
    block_[i] = read_block(b, i);
    if (grid.first_threadgroup[i]) block_[i] = b.CreateAdd(block_[i], grid.first_threadgroup[i]);
    block_size_[i] = given ? given : read_block_size(b, i);
    Value* rest = b.CreateSub(grid.threads_per_grid[i], b.CreateMul(block_[i], block_size_[i]));
    size_[i] = b.CreateBinaryIntrinsic(Intrinsic::umin, block_size_[i], rest);
  }
  find_index(b);
  volume_ = product(b, size_);

  llvm::Function* kernel = b.GetInsertBlock()->getParent();
  auto* outside = llvm::BasicBlock::Create(b.getContext(), "outside", kernel);
  auto* inside = llvm::BasicBlock::Create(b.getContext(), "inside", kernel);
  b.CreateCondBr(b.CreateICmpULT(index_, volume_), inside, outside);
  b.SetInsertPoint(outside);
  b.CreateRetVoid();
  b.SetInsertPoint(inside);
  find_position(b);
}

// Computes the thread's index in the block and, if the block is whole, its position.
void ThreadPosition::find_index(llvm::IRBuilder<>& b) {
  if (grid_.threads_per_threadgroup[0]) {
    Value* item = read_thread(b, 0);
    Value* lane = b.CreateAnd(item, kThreadExecutionWidth - 1);
    index_ = b.CreateAdd(b.CreateSub(item, lane), order_.thread_of(b, lane));
    divide(b, index_, block_size_, position_);
    return;
  }
  for (unsigned i = 0; i < 3; ++i) position_[i] = read_thread(b, i);
  Value* row = b.CreateAdd(position_[1], b.CreateMul(position_[2], block_size_[1]));
  index_ = b.CreateAdd(position_[0], b.CreateMul(row, block_size_[0]));
}

// In a block that the edge of the grid cuts, threads have other positions than in a whole one.
void ThreadPosition::find_position(llvm::IRBuilder<>& b) {
  llvm::BasicBlock* whole = b.GetInsertBlock();
  llvm::Function* kernel = whole->getParent();
  auto* cut = llvm::BasicBlock::Create(b.getContext(), "cut", kernel);
  auto* placed = llvm::BasicBlock::Create(b.getContext(), "placed", kernel);
  Value* is_cut = b.CreateOr(b.CreateICmpNE(size_[0], block_size_[0]),
                             b.CreateICmpNE(size_[1], block_size_[1]));
  b.CreateCondBr(is_cut, cut, placed);

  b.SetInsertPoint(cut);
  Value* in_cut[3];
  divide(b, index_, size_, in_cut);
  b.CreateBr(placed);

  b.SetInsertPoint(placed);
  for (unsigned i = 0; i < 3; ++i) {
    llvm::PHINode* position = b.CreatePHI(b.getInt32Ty(), 2);
    position->addIncoming(position_[i], whole);
    position->addIncoming(in_cut[i], cut);
    position_[i] = position;
  }
}

Value* ThreadPosition::value(llvm::IRBuilder<>& b, Builtin builtin, unsigned i) {
  switch (builtin) {
    case Builtin::ThreadPositionInGrid:
      return b.CreateNUWAdd(b.CreateNUWMul(block_[i], block_size_[i]), position_[i]);
    case Builtin::ThreadPositionInThreadgroup:
      return position_[i];
    case Builtin::ThreadIndexInThreadgroup:
      return index_;
    case Builtin::ThreadIndexInSimdgroup:
      return order_.thread(b);
    case Builtin::ThreadIndexInQuadgroup:
      return b.CreateAnd(index_, 3);
    case Builtin::SimdgroupIndexInThreadgroup:
      return b.CreateUDiv(index_, b.getInt32(kThreadExecutionWidth));
    case Builtin::QuadgroupIndexInThreadgroup:
      return b.CreateUDiv(index_, b.getInt32(4));
    case Builtin::ThreadgroupPositionInGrid:
      return block_[i];
    case Builtin::ThreadsPerGrid:
    case Builtin::GridSize:
      return grid_.threads_per_grid[i];
    case Builtin::ThreadsPerThreadgroup:
      return size_[i];
    case Builtin::DispatchThreadsPerThreadgroup:
      return block_size_[i];
    case Builtin::ThreadgroupsPerGrid:
      return blocks(b, grid_.threads_per_grid[i], block_size_[i]);
    case Builtin::ThreadsPerSimdgroup:
      return b.getInt32(kThreadExecutionWidth);
    case Builtin::QuadgroupsPerThreadgroup:
      return parts(b, volume_, 4);
    case Builtin::SimdgroupsPerThreadgroup:
      return parts(b, volume_, kThreadExecutionWidth);
    case Builtin::DispatchSimdgroupsPerThreadgroup:
      return parts(b, product(b, block_size_), kThreadExecutionWidth);
    case Builtin::DispatchQuadgroupsPerThreadgroup:
      return parts(b, product(b, block_size_), 4);
    case Builtin::GridOrigin:
      return b.getInt32(0);
  }
  internal_error("unknown builtin");
}

}  // namespace metal::cuda
