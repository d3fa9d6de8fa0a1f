#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// Creates a call of the operation with this name for these types of operands.
llvm::CallInst* create_operation(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Type* result,
                                 llvm::ArrayRef<Value*> operands, llvm::MemoryEffects effects) {
  std::string full = name.str();
  llvm::raw_string_ostream text(full);
  llvm::SmallVector<llvm::Type*> types;
  text << "." << *result;
  for (const Value* operand : operands) {
    types.push_back(operand->getType());
    text << "." << *operand->getType();
  }
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto* function = checked_cast<llvm::Function>(
      module.getOrInsertFunction(full, llvm::FunctionType::get(result, types, false)).getCallee());
  function->setMemoryEffects(effects);
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
                               llvm::Attribute::NoSync, llvm::Attribute::NoFree})
    function->addFnAttr(attribute);
  if (effects.doesNotAccessMemory()) function->addFnAttr(llvm::Attribute::Speculatable);
  for (llvm::Argument& argument : function->args()) {
    if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoCapture);
  }
  return b.CreateCall(function, operands);
}

constexpr unsigned kHalf = 16;        // lanes that hold four rows
constexpr unsigned kColumnLanes = 8;  // lanes of these that hold the same four columns

}  // namespace

llvm::FixedVectorType* matrix_type(llvm::Type* element) {
  return llvm::FixedVectorType::get(element, kMatrixElementCount);
}

llvm::Type* type_of_bits(llvm::IRBuilder<>& b, unsigned bits) {
  return bits == 32 ? b.getFloatTy() : b.getIntNTy(bits);
}

bool is_matrix(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() == kMatrixElementCount;
}

llvm::CallInst* create_matrix_load(llvm::IRBuilder<>& b, llvm::Type* element,
                                   const MatrixMemory& memory) {
  return create_operation(b, kMatrixLoad, matrix_type(element),
                          {memory.start, memory.row_step, memory.column_step},
                          llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
}

void create_matrix_store(llvm::IRBuilder<>& b, Value* matrix, const MatrixMemory& memory) {
  create_operation(b, kMatrixStore, b.getVoidTy(),
                   {memory.start, memory.row_step, memory.column_step, matrix},
                   llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
}

llvm::CallInst* create_matrix_multiply(llvm::IRBuilder<>& builder, Value* a, Value* b, Value* c) {
  return create_operation(builder, kMatrixMultiply, c->getType(), {a, b, c},
                          llvm::MemoryEffects::none());
}

llvm::CallInst* create_rows(llvm::IRBuilder<>& b, const LaneElements& lanes) {
  return create_operation(b, kMatrixRows, matrix_type(lanes.first->getType()->getScalarType()),
                          {lanes.first, lanes.second}, llvm::MemoryEffects::none());
}

LaneElements create_lanes(llvm::IRBuilder<>& b, Value* matrix) {
  auto* type = llvm::FixedVectorType::get(matrix->getType()->getScalarType(), kSimdWidth);
  auto lanes = [&](unsigned element) {
    return create_operation(b, kMatrixLanes, type, {matrix, b.getInt32(element)},
                            llvm::MemoryEffects::none());
  };
  return {lanes(0), lanes(1)};
}

llvm::CallInst* matrix_operation(Value* value, llvm::StringRef name) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef full = callee ? callee->getName() : "";
  return full.consume_front(name) && full.starts_with(".") ? call : nullptr;
}

MatrixMemory memory_of(const llvm::CallInst& access) {
  return {access.getArgOperand(0), access.getArgOperand(1), access.getArgOperand(2)};
}

unsigned element_of_lanes(const llvm::CallInst& lanes) {
  return static_cast<unsigned>(
      checked_cast<llvm::ConstantInt>(lanes.getArgOperand(1))->getZExtValue());
}

// The position of a lane's elements, as in the standard library: each pair of neighbouring lanes
// holds four columns of a row.
MatrixPlace place_of_lane(unsigned lane) {
  return {lane / kHalf * 4 + lane % kColumnLanes / 2, lane / kColumnLanes % 2 * 4 + lane % 2 * 2};
}

llvm::SmallVector<int> rows_mask() {
  llvm::SmallVector<int> mask(kMatrixElementCount);
  for (unsigned element = 0; element < 2; ++element) {
    for (const auto& [lane, place] : llvm::enumerate(lanes_mask(element)))
      mask[static_cast<size_t>(place)] = static_cast<int>(lane + element * size_t{kSimdWidth});
  }
  return mask;
}

llvm::SmallVector<int> lanes_mask(unsigned element) {
  llvm::SmallVector<int> mask;
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    const MatrixPlace place = place_of_lane(lane);
    mask.push_back(static_cast<int>(place.row * kMatrixSize + place.column + element));
  }
  return mask;
}

}  // namespace metal::cpu
