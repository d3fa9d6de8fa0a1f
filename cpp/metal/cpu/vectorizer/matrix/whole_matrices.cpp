#include "metal/cpu/vectorizer/matrix/whole_matrices.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {
namespace {

using compiler::is_matrix_access;
using llvm::Value;

llvm::SmallVector<llvm::CallInst*> matrix_accesses(llvm::Function& body) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(body)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && is_matrix_access(*call)) calls.push_back(call);
  }
  return calls;
}

// The lanes that run an instruction of linear code; null if all do.
Value* mask_at(const llvm::Instruction& instruction) {
  for (const llvm::Instruction* step = &instruction; step; step = step->getPrevNode()) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(step);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == kBlockMask) return call->getArgOperand(0);
  }
  return nullptr;
}

// Whether the shape is that of the numbers 0 to 31 of a SIMD-group's lanes.
bool is_lane_number(const Shape& shape) {
  if (!shape.has_offsets() || shape.offsets().size() != kSimdWidth || shape.zero_bits() < 5)
    return false;
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    if (shape.offset(lane) != lane) return false;
  }
  return true;
}

bool is_whole(const llvm::CallInst& access, const ShapeAnalysis& shapes) {
  const Value* mask = mask_at(access);
  auto uniform = [&](unsigned argument) {
    return shapes.shape(access.getArgOperand(argument)).is_uniform();
  };
  return shapes.width() == kSimdWidth && (!mask || shapes.shape(mask).is_uniform()) &&
         uniform(compiler::kMatrixPointer) && uniform(compiler::kMatrixRowStep) &&
         uniform(compiler::kMatrixColumnStep) &&
         is_lane_number(shapes.shape(access.getArgOperand(compiler::kMatrixLane)));
}

// Splits integers that hold a lane's two elements into two vectors of elements.
LaneElements split_elements(Widener& w, Value* pairs) {
  llvm::IRBuilder<>& b = w.builder();
  const unsigned bits = pairs->getType()->getScalarSizeInBits() / 2;
  llvm::Type* type = w.wide_type(type_of_bits(b, bits));
  auto elements = [&](Value* integers) {
    return b.CreateBitCast(b.CreateTrunc(integers, w.wide_type(b.getIntNTy(bits))), type);
  };
  return {elements(pairs), elements(b.CreateLShr(pairs, bits))};
}

Value* join_elements(Widener& w, const LaneElements& lanes) {
  llvm::IRBuilder<>& b = w.builder();
  const unsigned bits = lanes.first->getType()->getScalarSizeInBits();
  llvm::Type* pair = w.wide_type(b.getIntNTy(2 * bits));
  auto integer = [&](Value* elements) {
    return b.CreateZExt(b.CreateBitCast(elements, w.wide_type(b.getIntNTy(bits))), pair);
  };
  return b.CreateOr(integer(lanes.first), b.CreateShl(integer(lanes.second), bits));
}

MatrixMemory whole_memory(Widener& w, const llvm::CallInst& access, llvm::Type* element) {
  llvm::IRBuilder<>& b = w.builder();
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  auto step = [&](unsigned argument) {
    return b.CreateMul(w.first(access.getArgOperand(argument)), b.getInt64(bytes));
  };
  return {w.first(access.getArgOperand(compiler::kMatrixPointer)), step(compiler::kMatrixRowStep),
          step(compiler::kMatrixColumnStep)};
}

void widen_load(Widener& w, llvm::CallInst& load) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Type* element = type_of_bits(b, load.getType()->getScalarSizeInBits() / 2);
  Value* matrix = create_matrix_load(b, element, whole_memory(w, load, element));
  w.set_vector(&load, join_elements(w, create_lanes(b, matrix)));
}

void widen_store(Widener& w, llvm::CallInst& store) {
  llvm::IRBuilder<>& b = w.builder();
  const LaneElements lanes =
      split_elements(w, w.vector(store.getArgOperand(compiler::kMatrixElements)));
  create_matrix_store(b, create_rows(b, lanes),
                      whole_memory(w, store, lanes.first->getType()->getScalarType()));
}

// Inactive lanes count as zeros.
void widen_multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  auto matrix = [&](unsigned argument) {
    auto lanes = [&](unsigned element) {
      return w.where_active(w.vector(call.getArgOperand(argument + element)),
                            llvm::ConstantFP::getZero(b.getFloatTy()));
    };
    return create_rows(b, {lanes(0), lanes(1)});
  };
  Value* sum = create_matrix_multiply(b, matrix(0), matrix(2), matrix(4));
  w.set_vector(&call, join_elements(w, create_lanes(b, sum)));
}

}  // namespace

void inline_divided_matrices(llvm::Function& body, const BodyShapes& shapes) {
  const llvm::SmallVector<llvm::CallInst*> accesses = matrix_accesses(body);
  if (accesses.empty()) return;
  llvm::SmallVector<llvm::CallInst*> divided;
  {
    llvm::DominatorTree dominators(body);
    const llvm::PostDominatorTree post_dominators(body);
    const llvm::LoopInfo loops(dominators);
    const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
    for (llvm::CallInst* access : accesses) {
      if (!is_whole(*access, analysis)) divided.push_back(access);
    }
  }
  for (llvm::CallInst* access : divided) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*access, info);
  }
}

void widen_matrix_operation(Widener& w, llvm::CallInst& call) {
  if (!is_matrix_access(call)) {
    widen_multiply_accumulate(w, call);
  } else if (call.getType()->isVoidTy()) {
    widen_store(w, call);
  } else {
    widen_load(w, call);
  }
}

}  // namespace metal::cpu
