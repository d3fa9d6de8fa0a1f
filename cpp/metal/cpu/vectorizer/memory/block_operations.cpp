#include "metal/cpu/vectorizer/memory/block_operations.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::IRBuilder;
using llvm::Value;

constexpr uint64_t kLongestRun = 256;  // bytes that are copied without a loop

// Expands an operation on a constant number of bytes to loads and stores of one integer type.
class Pieces {
 public:
  explicit Pieces(llvm::MemIntrinsic& operation)
      : operation_(operation),
        size_(checked_cast<llvm::ConstantInt>(operation.getLength())->getZExtValue()) {
    uint64_t align = operation.getDestAlign().valueOrOne().value();
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&operation))
      align = std::min(align, copy->getSourceAlign().valueOrOne().value());
    piece_ = std::min({uint64_t{kCopyGranule}, align, size_ & -size_});
    type_ = llvm::IntegerType::get(operation.getContext(), static_cast<unsigned>(piece_ * 8));
  }

  void expand() {
    if (size_ <= kLongestRun || llvm::isa<llvm::MemMoveInst>(operation_)) {
      expand_run();
    } else {
      auto [body, index] = llvm::SplitBlockAndInsertSimpleForLoop(
          llvm::ConstantInt::get(llvm::Type::getInt64Ty(operation_.getContext()), size_ / piece_),
          &operation_);
      IRBuilder<> b(body);
      store(b, load(b, index), index);
    }
    operation_.eraseFromParent();
  }

 private:
  // The two blocks may overlap, so everything is read first.
  void expand_run() {
    IRBuilder<> b(&operation_);
    llvm::SmallVector<Value*> values;
    const uint64_t count = size_ / piece_;
    for (uint64_t i = 0; i < count; ++i) values.push_back(load(b, b.getInt64(i)));
    for (uint64_t i = 0; i < count; ++i) store(b, values[i], b.getInt64(i));
  }

  Value* load(IRBuilder<>& b, Value* index) {
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&operation_)) {
      return b.CreateAlignedLoad(type_, b.CreateGEP(type_, copy->getSource(), index),
                                 llvm::Align(piece_), operation_.isVolatile());
    }
    Value* byte = checked_cast<llvm::MemSetInst>(operation_).getValue();
    const llvm::APInt ones = llvm::APInt::getSplat(type_->getBitWidth(), llvm::APInt(8, 1));
    return b.CreateMul(b.CreateZExt(byte, type_), llvm::ConstantInt::get(type_, ones));
  }

  void store(IRBuilder<>& b, Value* value, Value* index) {
    b.CreateAlignedStore(value, b.CreateGEP(type_, operation_.getDest(), index),
                         llvm::Align(piece_), operation_.isVolatile());
  }

  llvm::MemIntrinsic& operation_;
  uint64_t size_;
  uint64_t piece_;
  llvm::IntegerType* type_;
};

bool is_private(const Value* pointer) {
  return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

// Whether it is a copy of a vector or small struct, such as those that fill a tile in threadgroup
// memory.
bool stays(const llvm::MemIntrinsic& operation) {
  const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&operation);
  const auto* size = llvm::dyn_cast<llvm::ConstantInt>(operation.getLength());
  return copy && size && !copy->isVolatile() && !is_private(copy->getDest()) &&
         !is_private(copy->getSource()) && size->getValue().ule(kLongestSharedCopy) &&
         size->getZExtValue() % kCopyGranule == 0 &&
         copy->getDestAlign().valueOrOne().value() >= kCopyGranule &&
         copy->getSourceAlign().valueOrOne().value() >= kCopyGranule;
}

bool in_pieces(const llvm::MemIntrinsic& operation) {
  const auto* size = llvm::dyn_cast<llvm::ConstantInt>(operation.getLength());
  return size && !size->isZero() &&
         (!llvm::isa<llvm::MemMoveInst>(operation) || size->getZExtValue() <= kLongestRun);
}

void expand_byte_by_byte(llvm::MemIntrinsic& operation, const llvm::TargetTransformInfo& costs) {
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&operation)) {
    llvm::expandMemCpyAsLoop(copy, costs);
  } else if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(&operation)) {
    llvm::expandMemMoveAsLoop(move, costs);
  } else {
    llvm::expandMemSetAsLoop(checked_cast<llvm::MemSetInst>(&operation));
  }
  operation.eraseFromParent();
}

}  // namespace

void expand_block_operations(llvm::Function& body) {
  const llvm::TargetTransformInfo costs(body.getParent()->getDataLayout());
  llvm::SmallVector<llvm::MemIntrinsic*> operations;
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* operation = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction);
    if (operation && !stays(*operation)) operations.push_back(operation);
  }
  for (llvm::MemIntrinsic* operation : operations) {
    if (in_pieces(*operation)) {
      Pieces(*operation).expand();
    } else {
      expand_byte_by_byte(*operation, costs);
    }
  }
}

}  // namespace metal::cpu
