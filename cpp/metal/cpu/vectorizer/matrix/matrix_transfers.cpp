#include "metal/cpu/vectorizer/matrix/matrix_transfers.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

namespace metal::cpu {
namespace {

using llvm::CallInst;
using llvm::Value;

bool is_constant(const Value* step, uint64_t bytes) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step);
  return known && known->getZExtValue() == bytes;
}

llvm::SmallVector<int> transposed_mask() {
  llvm::SmallVector<int> mask;
  for (unsigned i = 0; i < kMatrixElementCount; ++i)
    mask.push_back(static_cast<int>(i % kMatrixSize * kMatrixSize + i / kMatrixSize));
  return mask;
}

// A matrix in memory as lines of contiguous elements: its rows or its columns.
class Transfer {
 public:
  Transfer(CallInst& access, llvm::Type* element)
      : b_(&access),
        memory_(memory_of(access)),
        element_(element),
        bytes_(element->getScalarSizeInBits() / 8),
        by_columns_(is_constant(memory_.row_step, bytes_) &&
                    !is_constant(memory_.column_step, bytes_)),
        has_lines_(by_columns_ || is_constant(memory_.column_step, bytes_)) {}

  Value* load() {
    if (!has_lines_) return load_elements();
    llvm::SmallVector<Value*> lines;
    for (unsigned i = 0; i < kMatrixSize; ++i)
      lines.push_back(b_.CreateAlignedLoad(line_type(), line(i), align()));
    Value* matrix = llvm::concatenateVectors(b_, lines);
    return by_columns_ ? b_.CreateShuffleVector(matrix, transposed_mask()) : matrix;
  }

  void store(Value* matrix) {
    if (!has_lines_) return store_elements(matrix);
    if (by_columns_) matrix = b_.CreateShuffleVector(matrix, transposed_mask());
    for (unsigned i = 0; i < kMatrixSize; ++i) {
      Value* part = b_.CreateShuffleVector(
          matrix, llvm::createSequentialMask(i * kMatrixSize, kMatrixSize, 0));
      b_.CreateAlignedStore(part, line(i), align());
    }
  }

 private:
  Value* load_elements() {
    Value* matrix = llvm::PoisonValue::get(matrix_type(element_));
    for (unsigned i = 0; i < kMatrixElementCount; ++i)
      matrix = b_.CreateInsertElement(matrix, b_.CreateAlignedLoad(element_, at(i), align()), i);
    return matrix;
  }

  void store_elements(Value* matrix) {
    for (unsigned i = 0; i < kMatrixElementCount; ++i)
      b_.CreateAlignedStore(b_.CreateExtractElement(matrix, i), at(i), align());
  }

  Value* line(unsigned number) {
    return offset(memory_.start, by_columns_ ? memory_.column_step : memory_.row_step, number);
  }
  Value* at(unsigned element) {
    return offset(offset(memory_.start, memory_.row_step, element / kMatrixSize),
                  memory_.column_step, element % kMatrixSize);
  }
  Value* offset(Value* start, Value* step, unsigned steps) {
    return b_.CreateGEP(b_.getInt8Ty(), start, b_.CreateMul(step, b_.getInt64(steps)));
  }

  llvm::Type* line_type() const { return llvm::FixedVectorType::get(element_, kMatrixSize); }
  llvm::Align align() const { return llvm::Align(bytes_); }

  llvm::IRBuilder<> b_;
  const MatrixMemory memory_;
  llvm::Type* element_;
  const unsigned bytes_;
  const bool by_columns_;
  const bool has_lines_;
};

// The value that replaces the call; null if it has no result.
Value* lower(CallInst& call) {
  llvm::IRBuilder<> b(&call);
  if (matrix_operation(&call, kMatrixRows))
    return b.CreateShuffleVector(call.getArgOperand(0), call.getArgOperand(1), rows_mask());
  if (matrix_operation(&call, kMatrixLanes))
    return b.CreateShuffleVector(call.getArgOperand(0), lanes_mask(element_of_lanes(call)));
  if (matrix_operation(&call, kMatrixLoad))
    return Transfer(call, call.getType()->getScalarType()).load();
  Value* matrix = call.getArgOperand(3);
  Transfer(call, matrix->getType()->getScalarType()).store(matrix);
  return nullptr;
}

bool is_transfer(llvm::Instruction& instruction) {
  return llvm::any_of(
      std::initializer_list<const char*>{kMatrixRows, kMatrixLanes, kMatrixLoad, kMatrixStore},
      [&](const char* name) { return matrix_operation(&instruction, name) != nullptr; });
}

}  // namespace

bool lower_matrix_transfers(llvm::Function& wide) {
  llvm::SmallVector<CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(wide)) {
    if (is_transfer(instruction)) calls.push_back(checked_cast<CallInst>(&instruction));
  }
  for (CallInst* call : calls) {
    if (Value* result = lower(*call)) call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  return !calls.empty();
}

}  // namespace metal::cpu
