#include "metal/cpu/vectorizer/matrix/matrix_rows.h"

#include <array>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr int kHalf = 16;        // lanes that hold four rows
constexpr int kColumnLanes = 8;  // those of them with the same four columns
constexpr int64_t kWord = 4;     // bytes

// A pair of lanes, one behind the other, holds four columns of a row.
int first_lane(int row, int side) { return (row / 4) * kHalf + side * kColumnLanes + row % 4 * 2; }

// An element of a vector.
struct Element {
  Value* vector;
  int index;

  bool operator==(const Element&) const = default;
};

// Where it came from: shuffles only move elements.
Element origin(Element element) {
  for (;;) {
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(element.vector)) {
      const int from = shuffle->getMaskValue(static_cast<unsigned>(element.index));
      if (from < 0) return element;
      const auto* type = checked_cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
      const int size = static_cast<int>(type->getNumElements());
      element = {shuffle->getOperand(from < size ? 0 : 1), from % size};
    } else if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(element.vector);
               cast && cast->getSrcTy()->isVectorTy() &&
               cast->getSrcTy()->getScalarSizeInBits() ==
                   cast->getDestTy()->getScalarSizeInBits()) {
      element.vector = cast->getOperand(0);
    } else {
      return element;
    }
  }
}

// Four columns of a row: elements that follow each other.
using Chunk = std::array<Element, 4>;

Chunk chunk_of_lanes(const LaneElements& lanes, int row, int side) {
  const int lane = first_lane(row, side);
  return {origin({lanes.first, lane}), origin({lanes.second, lane}),
          origin({lanes.first, lane + 1}), origin({lanes.second, lane + 1})};
}

bool is_run(const Chunk& chunk) {
  for (int i = 1; i < 4; ++i) {
    if (chunk[i] != Element{chunk[0].vector, chunk[0].index + i}) return false;
  }
  return true;
}

// Where a chunk was loaded from as it is, as a constant distance from some address.
struct Place {
  llvm::LoadInst* load = nullptr;
  const Value* root = nullptr;
  int64_t offset = 0;  // bytes
};

Place place_of(const Chunk& chunk) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(chunk[0].vector);
  if (!load || !load->isSimple() || !is_run(chunk)) return {};
  llvm::APInt offset(64, 0);
  const Value* root = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
      load->getModule()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
  return {load, root, offset.getSExtValue() + chunk[0].index * kWord};
}

}  // namespace

llvm::SmallVector<Value*> rows_of_lanes(llvm::IRBuilder<>& b, const LaneElements& lanes) {
  llvm::SmallVector<Value*> rows;
  for (int half = 0; half < 2; ++half) {
    const auto mask = llvm::createSequentialMask(static_cast<unsigned>(half * kHalf), kHalf, 0);
    Value* first = b.CreateShuffleVector(lanes.first, mask);
    Value* second = b.CreateShuffleVector(lanes.second, mask);
    for (int row : {0, 2}) {
      llvm::SmallVector<int> picks;
      for (int place = 0; place < 2 * 8; ++place) {
        const int column = place % 8;
        const int lane = first_lane(row + place / 8, column / 4) + column % 4 / 2;
        picks.push_back(lane + column % 2 * kHalf);
      }
      rows.push_back(b.CreateShuffleVector(first, second, picks));
    }
  }
  return rows;
}

Value* lanes_of_rows(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> rows, unsigned element) {
  llvm::SmallVector<int> picks;
  for (int lane = 0; lane < kHalf; ++lane) {
    const int row = lane % kColumnLanes / 2, column = lane / kColumnLanes * 4 + lane % 2 * 2;
    picks.push_back(row * 8 + column + static_cast<int>(element));
  }
  Value* halves[] = {b.CreateShuffleVector(rows[0], rows[1], picks),
                     b.CreateShuffleVector(rows[2], rows[3], picks)};
  return llvm::concatenateVectors(b, halves);
}

RowMemory find_rows(llvm::IRBuilder<>& b, const LaneElements& lanes,
                    llvm::SmallVectorImpl<llvm::LoadInst*>& loads) {
  const Chunk first = chunk_of_lanes(lanes, 0, 0);
  const Place start = place_of(first);
  constexpr int64_t kSide = 4 * kWord;
  const int64_t pitch = place_of(chunk_of_lanes(lanes, 1, 0)).offset - start.offset;
  for (int row = 0; row < 8; ++row) {
    for (int side = 0; side < 2; ++side) {
      const Place place = place_of(chunk_of_lanes(lanes, row, side));
      if (!place.load || place.root != start.root ||
          place.offset != start.offset + row * pitch + side * kSide)
        return {};
      loads.push_back(place.load);
    }
  }
  Value* address =
      b.CreateConstGEP1_64(b.getInt8Ty(), start.load->getPointerOperand(), first[0].index * kWord);
  return {b.CreateAddrSpaceCast(address, b.getPtrTy()), pitch};
}

}  // namespace metal::cpu
