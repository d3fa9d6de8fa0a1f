#include "metal/cpu/vectorizer/widen/blocks.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DerivedTypes.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

// A vector with some elements of the result, and their positions.
struct Part {
  llvm::Value* vector;
  llvm::SmallVector<int, 16> places;  // by element of the result; -1 if it is not in this vector
};

Part merge(llvm::IRBuilder<>& b, const Part& left, const Part& right) {
  const int size = static_cast<int>(left.places.size());
  Part merged{nullptr, llvm::SmallVector<int, 16>(left.places.size(), -1)};
  llvm::SmallVector<int, 16> mask(left.places.size(), llvm::PoisonMaskElem);
  for (int i = 0; i < size; ++i) {
    if (left.places[i] < 0 && right.places[i] < 0) continue;
    mask[i] = left.places[i] >= 0 ? left.places[i] : size + right.places[i];
    merged.places[i] = i;
  }
  merged.vector = b.CreateShuffleVector(left.vector, right.vector, mask);
  return merged;
}

}  // namespace

llvm::Value* assemble(llvm::IRBuilder<>& b, llvm::ArrayRef<BlockElement> elements) {
  auto* type = checked_cast<llvm::FixedVectorType>(elements[0].block->getType());
  llvm::SmallVector<Part> parts;
  for (const auto& [i, source] : llvm::enumerate(elements)) {
    auto* known =
        llvm::find_if(parts, [&](const Part& part) { return part.vector == source.block; });
    if (known == parts.end()) {
      parts.push_back({source.block, llvm::SmallVector<int, 16>(type->getNumElements(), -1)});
      known = &parts.back();
    }
    known->places[i] = source.element;
  }
  while (parts.size() > 1) {
    llvm::SmallVector<Part> merged;
    for (size_t i = 0; i + 1 < parts.size(); i += 2)
      merged.push_back(merge(b, parts[i], parts[i + 1]));
    if (parts.size() % 2) merged.push_back(parts.back());
    parts = std::move(merged);
  }
  llvm::SmallVector<int, 16> mask(parts[0].places);
  mask.truncate(elements.size());
  const bool whole = elements.size() == type->getNumElements();
  if (whole && llvm::ShuffleVectorInst::isIdentityMask(mask, static_cast<int>(mask.size())))
    return parts[0].vector;
  return b.CreateShuffleVector(parts[0].vector, mask);
}

// Each round merges rows that are half the matrix apart, element by element. Processors do this for
// all blocks of a register at once.
llvm::SmallVector<llvm::Value*> transpose(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> rows) {
  const auto size = static_cast<int>(rows.size());
  const auto lanes =
      static_cast<int>(checked_cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
  llvm::SmallVector<int> low, high;
  for (int start = 0; start < lanes; start += size) {
    for (int i = 0; i < size / 2; ++i) {
      low.append({start + i, lanes + start + i});
      high.append({start + size / 2 + i, lanes + start + size / 2 + i});
    }
  }
  llvm::SmallVector<llvm::Value*> vectors(rows);
  for (int round = 1; round < size; round *= 2) {
    llvm::SmallVector<llvm::Value*> merged;
    for (int i = 0; i < size / 2; ++i) {
      for (const auto& mask : {low, high})
        merged.push_back(b.CreateShuffleVector(vectors[i], vectors[i + size / 2], mask));
    }
    vectors = std::move(merged);
  }
  return vectors;
}

}  // namespace metal::cpu
