#include "metal/cpu/vectorizer/widen/blocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
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

llvm::Value* extract_subvector(llvm::IRBuilder<>& b, llvm::Value* vector, unsigned first,
                               unsigned count) {
  const auto length = [](const llvm::Value* of) {
    return checked_cast<llvm::FixedVectorType>(of->getType())->getNumElements();
  };
  while (const auto* joined = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
    if (!joined->isConcat()) break;
    const unsigned half = length(joined->getOperand(0));
    if (first < half && first + count > half) break;
    vector = joined->getOperand(first < half ? 0 : 1);
    first %= half;
  }
  if (length(vector) == count) return vector;
  return b.CreateShuffleVector(vector, llvm::createSequentialMask(first, count, 0));
}

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
llvm::SmallVector<llvm::Value*> transpose(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> rows,
                                          unsigned neighbours) {
  const auto size = static_cast<int>(rows.size());
  const auto together = static_cast<int>(neighbours);
  const auto lanes =
      static_cast<int>(checked_cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
  llvm::SmallVector<int> low, high;
  auto append = [&](llvm::SmallVector<int>& mask, int first) {
    for (int i = 0; i < together; ++i) mask.push_back(first + i);
  };
  for (int start = 0; start < lanes; start += size * together) {
    for (int i = 0; i < size / 2; ++i) {
      for (const int matrix : {0, lanes}) {
        append(low, matrix + start + i * together);
        append(high, matrix + start + (size / 2 + i) * together);
      }
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

unsigned lanes_in_register(const llvm::TargetTransformInfo& costs, int64_t size, unsigned in_block,
                           unsigned width) {
  const uint64_t bits =
      costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  const auto lanes = static_cast<unsigned>(bits / 8 / static_cast<uint64_t>(size));
  return std::max(in_block, std::min(lanes, width));
}

// A vector has elements of `lanes` lanes. First the blocks of each lane are moved apart, then the
// elements of each block.
llvm::SmallVector<llvm::Value*> load_columns(llvm::IRBuilder<>& b, llvm::Type* element,
                                             const BlockForm& form,
                                             llvm::ArrayRef<llvm::Value*> pointers, int64_t offset,
                                             llvm::Align align) {
  const auto& [in_block, blocks, lanes] = form;
  auto* run = llvm::FixedVectorType::get(element, in_block * blocks);
  llvm::SmallVector<llvm::SmallVector<llvm::Value*>> parts_of_columns(size_t{in_block} * blocks);
  for (unsigned lane = 0; lane < pointers.size(); lane += lanes) {
    llvm::SmallVector<llvm::SmallVector<llvm::Value*>> rows_of_blocks(blocks);
    for (unsigned i = 0; i < in_block; ++i) {
      llvm::SmallVector<llvm::Value*> rows;
      for (unsigned row = 0; row < blocks; ++row) {
        llvm::SmallVector<llvm::Value*> runs;
        for (unsigned from = row * in_block + i; from < lanes; from += in_block * blocks) {
          llvm::Value* place = b.CreateConstGEP1_64(b.getInt8Ty(), pointers[lane + from], offset);
          runs.push_back(b.CreateAlignedLoad(run, place, align));
        }
        rows.push_back(llvm::concatenateVectors(b, runs));
      }
      for (const auto& [block, row] : llvm::enumerate(transpose(b, rows, in_block)))
        rows_of_blocks[block].push_back(row);
    }
    for (const auto& [block, rows] : llvm::enumerate(rows_of_blocks)) {
      for (const auto& [i, column] : llvm::enumerate(transpose(b, rows)))
        parts_of_columns[block * in_block + i].push_back(column);
    }
  }
  llvm::SmallVector<llvm::Value*> columns;
  for (const auto& parts : parts_of_columns) columns.push_back(llvm::concatenateVectors(b, parts));
  return columns;
}

llvm::SmallVector<llvm::Value*> runs_of_columns(llvm::IRBuilder<>& b, const BlockForm& form,
                                                llvm::ArrayRef<llvm::Value*> columns) {
  const auto& [in_block, blocks, lanes] = form;
  const unsigned in_run = in_block * blocks;
  llvm::SmallVector<llvm::SmallVector<llvm::Value*>> rows_of_lanes(in_block);
  for (unsigned block = 0; block < blocks; ++block) {
    const auto rows = transpose(b, columns.slice(size_t{block} * in_block, in_block));
    for (const auto& [i, row] : llvm::enumerate(rows)) rows_of_lanes[i].push_back(row);
  }
  llvm::SmallVector<llvm::Value*> runs(lanes);
  for (const auto& [i, rows] : llvm::enumerate(rows_of_lanes)) {
    for (const auto& [row, of_lanes] : llvm::enumerate(transpose(b, rows, in_block))) {
      for (unsigned first = 0; first < lanes; first += in_run) {
        runs[first + row * in_block + i] =
            b.CreateShuffleVector(of_lanes, llvm::createSequentialMask(first, in_run, 0));
      }
    }
  }
  return runs;
}

llvm::SmallVector<int64_t> cover(llvm::ArrayRef<int64_t> offsets, int64_t size, int64_t block,
                                 std::optional<int64_t> phase) {
  llvm::SmallVector<int64_t> sorted(offsets), starts;
  llvm::sort(sorted);
  for (int64_t offset : sorted) {
    if (!starts.empty() && offset + size <= starts.back() + block) continue;
    starts.push_back(phase ? offset - floor_mod(offset + *phase, block) : offset);
  }
  return starts;
}

llvm::SmallVector<int64_t> cover_with_fewest(llvm::ArrayRef<int64_t> offsets, int64_t size,
                                             int64_t block, int64_t phase) {
  auto starts = cover(offsets, size, block, phase);
  auto closest = cover(offsets, size, block, std::nullopt);
  return closest.size() < starts.size() ? closest : starts;
}

}  // namespace metal::cpu
