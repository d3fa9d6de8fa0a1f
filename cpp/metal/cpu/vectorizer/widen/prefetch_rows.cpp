// Prefetches for gangs that read a region row by row.
#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/SmallVector.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"
#include "metal/cpu/vectorizer/prefetch/shared_reads.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

namespace {

constexpr auto kLineBytes = static_cast<int64_t>(kCacheLine);

// Whether the block has prefetches that stay as they are where lanes read rows, as a prefetch
// slice.
bool has_prefetches(const llvm::BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    return is_prefetch(instruction) &&
           !is_of_stream(*checked_cast<llvm::IntrinsicInst>(&instruction));
  });
}

// A gang that comes soon reads what is so many bytes further, or a multiple of a region if it is
// smaller: the next gang would read before memory answers.
constexpr int64_t kAhead = 4 << 10;
// Of a larger region, too little would stay in the cache.
constexpr int64_t kLargestRegion = 32 << 10;

}  // namespace

// Prefetches the cache lines of a later gang's rows: lanes read rows of a region in turn, and
// processors do not follow as many streams as there are lanes.
void MemoryWidener::prefetch_rows(const Row& row, llvm::ArrayRef<Value*> pointers) {
  Value* first = llvm::getLoadStorePointerOperand(&row.first());
  if (row.first().hasMetadata(kReadsOn) || has_prefetches(*row.first().getParent()) ||
      !is_device_memory(first) || !differs_between_threadgroups(first))
    return;
  w_.shape(first).has_offsets() ? prefetch_known_rows(row, pointers)
                                : prefetch_measured_rows(row, pointers);
}

// The distance of the prefetch in bytes, 0 if it does not pay.
int64_t MemoryWidener::distance_to_later_gang(const Shape& shape) const {
  const int64_t apart = shape.offset(1) - shape.offset(0);
  for (unsigned lane = 2; lane < w_.width(); ++lane) {
    if (shape.offset(lane) - shape.offset(lane - 1) != apart) return 0;
  }
  const int64_t region = apart * w_.width();
  if (region == 0 || std::abs(region) > kLargestRegion) return 0;
  return region * std::max(int64_t{1}, kAhead / std::abs(region));
}

// Each line once. Loads that read less than a line of a row would prefetch it several times.
void MemoryWidener::prefetch_known_rows(const Row& row, llvm::ArrayRef<Value*> pointers) {
  const auto size = static_cast<int64_t>(row_access(row).size);
  const auto [low, high] = row.range();
  const Shape shape = w_.shape(llvm::getLoadStorePointerOperand(&row.first()));
  const int64_t ahead = distance_to_later_gang(shape);
  const int64_t apart = shape.offset(1) - shape.offset(0);
  if (ahead == 0 || (high - low + 1) * size < std::min(kLineBytes, std::abs(apart))) return;
  int64_t covered = INT64_MIN;
  for (unsigned i = 0; i < w_.width(); ++i) {
    const unsigned lane = apart < 0 ? w_.width() - 1 - i : i;
    const int64_t begin = shape.offset(lane) + low * size;
    const int64_t end = shape.offset(lane) + (high + 1) * size;
    for (int64_t line = std::max(covered, begin); line < end; line += kLineBytes) {
      const int64_t offset = line - shape.offset(lane) + ahead;
      prefetch_line(b_, pointers[lane], offset, Cache::Second);
      covered = line + kLineBytes;
    }
  }
}

// The same if only the running code knows how far the lanes are apart. All lanes run here.
void MemoryWidener::prefetch_measured_rows(const Row& row, llvm::ArrayRef<Value*> pointers) {
  const auto size = static_cast<int64_t>(row_access(row).size);
  const auto [low, high] = row.range();
  if ((high - low + 1) * size < kLineBytes) return;
  Value* start = b_.CreatePtrToInt(pointers[0], b_.getInt64Ty());
  auto from_first = [&](Value* pointer) {
    Value* place = b_.CreatePtrToInt(pointer, b_.getInt64Ty());
    return b_.CreateSub(place, start);
  };
  Value* apart = from_first(pointers[1]);
  Value* last = b_.CreateMul(apart, b_.getInt64(w_.width() - 1));
  Value* region = b_.CreateMul(apart, b_.getInt64(w_.width()));
  Value* bytes = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, region, b_.getFalse());
  Value* even = b_.CreateICmpEQ(from_first(pointers.back()), last);
  Value* small = b_.CreateICmpULE(bytes, b_.getInt64(kLargestRegion));
  w_.branch(
      b_.CreateAnd(even, small),
      [&] {
        // The largest power of two with which the region is not larger than kAhead.
        Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bytes, b_.getFalse());
        Value* times = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, zeros,
                                                b_.getInt64(llvm::countl_zero(uint64_t{kAhead})));
        Value* ahead = b_.CreateShl(region, times);
        for (Value* pointer : pointers) {
          Value* later = b_.CreateGEP(b_.getInt8Ty(), pointer, ahead);
          for (int64_t offset = low * size; offset <= high * size; offset += kLineBytes)
            prefetch_line(b_, later, offset, Cache::Second);
        }
      },
      [] {});
}

}  // namespace metal::cpu
