#include "metal/cpu/vectorizer/matrix/matrix_elements.h"

#include "llvm/IR/InstIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"
#include "metal/cpu/vectorizer/matrix/whole_matrices.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

using llvm::Value;

MatrixElements::MatrixElements(Widener& widener, llvm::Function& body)
    : w_(widener),
      multiplies_(widener.width() == kSimdWidth &&
                  llvm::any_of(llvm::instructions(body), compiler::is_matrix_product)) {}

void MatrixElements::enter(llvm::BasicBlock& block) {
  if (!multiplies_) return;
  single_.clear();
  pairs_.clear();
  for (llvm::Instruction& instruction : block) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    Steps steps;
    if (load && steps_of(*load, steps)) {
      const auto [root, offset] = split_constant(load->getPointerOperand(), w_.layout());
      add({load, root, offset, steps});
    } else if (instruction.mayWriteToMemory()) {
      single_.clear();
    }
  }
}

// Whether the lanes load elements of a matrix at known offsets from lane 0's address.
bool MatrixElements::steps_of(const llvm::LoadInst& load, Steps& steps) const {
  const unsigned bits = load.getType()->getScalarSizeInBits();
  const Shape shape = w_.shape(load.getPointerOperand());
  if (!load.isSimple() || load.getType()->isVectorTy() || (bits != 16 && bits != 32) ||
      !shape.has_offsets() || shape.is_uniform() || !shape.exact())
    return false;
  steps = {shape.offset(2), shape.offset(1) / 2};
  if (steps.row == 0 || steps.column == 0) return false;
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    const MatrixPlace place = place_of_lane(lane);
    if (shape.offset(lane) != place.row * steps.row + place.column * steps.column) return false;
  }
  return true;
}

void MatrixElements::add(const Element& element) {
  auto* other = llvm::find_if(single_, [&](const Element& one) {
    const int64_t distance = element.offset - one.offset;
    return one.root == element.root && one.steps == element.steps &&
           one.load->getType() == element.load->getType() &&
           (distance == element.steps.column || distance == -element.steps.column);
  });
  if (other == single_.end()) {
    single_.push_back(element);
    return;
  }
  const bool in_order = other->offset + element.steps.column == element.offset;
  const Pair pair{in_order ? other->load : element.load, in_order ? element.load : other->load,
                  element.steps};
  for (const llvm::LoadInst* load : {pair.first, pair.second}) pairs_[load] = pair;
  single_.erase(other);
}

// Loads both elements where the first of the two loads is.
bool MatrixElements::load(llvm::LoadInst& load) {
  const auto found = pairs_.find(&load);
  if (found == pairs_.end() || w_.mask()) return false;
  const auto [first, second, steps] = found->second;
  if (w_.has_vector(first)) return true;
  llvm::IRBuilder<>& b = w_.builder();
  Value* start = w_.first(load.getPointerOperand());
  if (&load == second) start = b.CreateConstGEP1_64(b.getInt8Ty(), start, -steps.column);
  auto step = [&](int64_t bytes) { return b.getInt64(static_cast<uint64_t>(bytes)); };
  llvm::Type* type = type_of_bits(b, load.getType()->getScalarSizeInBits());
  const LaneElements lanes =
      create_lanes(b, create_matrix_load(b, type, {start, step(steps.row), step(steps.column)}));
  llvm::Type* wide = w_.wide_type(load.getType());
  w_.set_vector(first, b.CreateBitCast(lanes.first, wide));
  w_.set_vector(second, b.CreateBitCast(lanes.second, wide));
  return true;
}

}  // namespace metal::cpu
