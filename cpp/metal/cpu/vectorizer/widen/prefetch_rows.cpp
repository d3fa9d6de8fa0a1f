// Prefetches for gangs that read a region row by row.
#include <cstdlib>

#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

// The distance in bytes to what the next gang reads, if that is worth a prefetch: lanes read rows
// of a region in turn, and processors do not follow as many streams as there are lanes. They follow
// a small region as one stream; of a large one, too little would stay in the cache. Otherwise 0.
int64_t MemoryWidener::distance_to_next_gang(const Shape& shape) const {
  constexpr int64_t kSmall = 8 << 10, kLarge = 32 << 10;
  if (!prefetches_rows_ || !shape.has_offsets()) return 0;
  const int64_t apart = shape.offset(1) - shape.offset(0);
  for (unsigned lane = 2; lane < w_.width(); ++lane) {
    if (shape.offset(lane) - shape.offset(lane - 1) != apart) return 0;
  }
  const int64_t region = apart * w_.width();
  return std::abs(region) > kSmall && std::abs(region) <= kLarge ? region : 0;
}

// Prefetches the cache lines of the next gang's rows, if loads read whole lines.
void MemoryWidener::prefetch_rows(const Row& row, llvm::ArrayRef<Value*> pointers) {
  const auto size = static_cast<int64_t>(row_access(row).size);
  const auto line = static_cast<int64_t>(kCacheLine);
  const auto [low, high] = row.range();
  const Value* first = llvm::getLoadStorePointerOperand(&row.first());
  const int64_t ahead = is_device_memory(first) ? distance_to_next_gang(w_.shape(first)) : 0;
  if (ahead == 0 || (high - low + 1) * size < line) return;
  for (Value* pointer : pointers) {
    for (int64_t offset = low * size; offset <= high * size; offset += line) {
      create_prefetch(b_, b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, offset + ahead),
                      Cache::Second);
    }
  }
}

}  // namespace metal::cpu
