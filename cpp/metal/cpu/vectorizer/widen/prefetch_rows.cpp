// Prefetches for gangs that read a region row by row.
#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

namespace {

// Whether lane 0's address differs between gangs, threadgroups or iterations. A vector that all of
// them read is in the cache.
bool advances(const Value* address) {
  llvm::SmallPtrSet<const Value*, 16> found;
  llvm::SmallVector<const Value*> work{address};
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    if (!found.insert(value).second) continue;
    if (llvm::isa<llvm::PHINode>(value)) return true;
    if (llvm::isa<llvm::Argument, llvm::LoadInst>(value)) {
      if (!value->getType()->isPointerTy()) return true;
    } else if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value)) {
      work.append(instruction->value_op_begin(), instruction->value_op_end());
    }
  }
  return false;
}

}  // namespace

// The distance in bytes to what a gang soon reads, if that is worth a prefetch: lanes read rows of
// a region in turn, and processors do not follow as many streams as there are lanes. That is the
// next gang, or a later one if regions are so small that the next one would read before memory
// answers. Of a large region, too little would stay in the cache: then it is 0.
int64_t MemoryWidener::distance_to_later_gang(const Shape& shape) const {
  constexpr int64_t kAhead = 4 << 10, kLarge = 32 << 10;
  if (!prefetches_rows_ || !shape.has_offsets()) return 0;
  const int64_t apart = shape.offset(1) - shape.offset(0);
  for (unsigned lane = 2; lane < w_.width(); ++lane) {
    if (shape.offset(lane) - shape.offset(lane - 1) != apart) return 0;
  }
  const int64_t region = apart * w_.width();
  if (region == 0 || std::abs(region) > kLarge) return 0;
  return region * std::max(int64_t{1}, kAhead / std::abs(region));
}

// Prefetches the cache lines of a later gang's rows, each once. Loads that read less than a line of
// a row would prefetch it several times.
void MemoryWidener::prefetch_rows(const Row& row, llvm::ArrayRef<Value*> pointers) {
  constexpr auto kLine = static_cast<int64_t>(kCacheLine);
  const auto size = static_cast<int64_t>(row_access(row).size);
  const auto [low, high] = row.range();
  Value* first = llvm::getLoadStorePointerOperand(&row.first());
  const Shape shape = w_.shape(first);
  const int64_t ahead = is_device_memory(first) ? distance_to_later_gang(shape) : 0;
  if (ahead == 0 || !advances(w_.first(first))) return;
  const int64_t apart = shape.offset(1) - shape.offset(0);
  if ((high - low + 1) * size < std::min(kLine, std::abs(apart))) return;
  int64_t covered = INT64_MIN;
  for (unsigned i = 0; i < w_.width(); ++i) {
    const unsigned lane = apart < 0 ? w_.width() - 1 - i : i;
    const int64_t begin = shape.offset(lane) + low * size;
    const int64_t end = shape.offset(lane) + (high + 1) * size;
    for (int64_t line = std::max(covered, begin); line < end; line += kLine) {
      const int64_t offset = line - shape.offset(lane) + ahead;
      create_prefetch(b_, b_.CreateConstGEP1_64(b_.getInt8Ty(), pointers[lane], offset),
                      Cache::Second);
      covered = line + kLine;
    }
  }
}

}  // namespace metal::cpu
