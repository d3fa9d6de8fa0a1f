// Stores neighbouring elements of each lane as blocks, which are transposed in registers.

#include "llvm/Analysis/VectorUtils.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

// Whether the launch has many results and each lane's elements fill whole cache lines: `count`
// elements from `first` bytes after the pointer. Null if registers are shorter than half a line.
Value* MemoryWidener::lines_pass_caches(Value* pointer, int64_t first, size_t count, int64_t size) {
  constexpr auto kLine = static_cast<int64_t>(kCacheLine);
  const BlockForm form = form_of(llvm::bit_floor(count), size);
  if (int64_t{form.in_block} * form.blocks * size < kLine / 2 ||
      static_cast<int64_t>(count) * size % kLine != 0)
    return nullptr;
  const Shape shape = w_.shape(pointer);
  if (shape.has_offsets() &&
      llvm::any_of(shape.offsets(), [](int64_t offset) { return offset % kLine != 0; }))
    return nullptr;
  Value* places = nullptr;  // all are multiples of a line if the bitwise or of them is one
  if (shape.has_offsets() || shape.is_strided()) {
    places = b_.CreatePtrToInt(w_.first(pointer), b_.getInt64Ty());
    places = b_.CreateAdd(places, b_.getInt64(first));
    if (shape.is_strided()) places = b_.CreateOr(places, w_.stride(pointer));
  } else {
    Value* all = b_.CreatePtrToInt(w_.vector(pointer), w_.wide_type(b_.getInt64Ty()));
    places = b_.CreateOrReduce(b_.CreateAdd(all, w_.splat(b_.getInt64(first))));
  }
  return passes_caches(b_.CreateAnd(places, kLine - 1));
}

// What `lanes` lanes write as one vector each, from their elements of the columns.
MemoryWidener::Vectors MemoryWidener::lane_runs(llvm::IRBuilder<>& b, const BlockForm& form,
                                                llvm::ArrayRef<Value*> columns, unsigned lane) {
  Vectors parts;
  for (Value* column : columns)
    parts.push_back(b.CreateShuffleVector(column, llvm::createSequentialMask(lane, form.lanes, 0)));
  return runs_of_columns(b, form, parts);
}

// Writes to each lane as many neighbouring elements as there are columns, from `first` bytes after
// its pointer.
void MemoryWidener::store_columns(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> columns,
                                  llvm::ArrayRef<Value*> pointers, int64_t first,
                                  llvm::Align align) const {
  const auto size =
      static_cast<int64_t>(w_.layout().getTypeStoreSize(columns[0]->getType()->getScalarType()));
  while (!columns.empty()) {
    const BlockForm form = form_of(llvm::bit_floor(columns.size()), size);
    const size_t count = size_t{form.in_block} * form.blocks;
    for (unsigned lane = 0; lane < w_.width(); lane += form.lanes) {
      const Vectors runs = lane_runs(b, form, columns.take_front(count), lane);
      for (const auto& [run, pointer] : llvm::zip_equal(runs, pointers.slice(lane, form.lanes)))
        b.CreateAlignedStore(run, b.CreateConstGEP1_64(b.getInt8Ty(), pointer, first), align);
    }
    columns = columns.drop_front(count);
    first += static_cast<int64_t>(count) * size;
  }
}

// The same for columns that fill cache lines, which are stored past the caches if the condition
// holds. So the parts of a line are stored one after the other: processors combine them.
void MemoryWidener::store_lines(Value* past_caches, llvm::ArrayRef<Value*> columns,
                                llvm::ArrayRef<Value*> pointers, int64_t first, llvm::Align align) {
  const auto size =
      static_cast<int64_t>(w_.layout().getTypeStoreSize(columns[0]->getType()->getScalarType()));
  const auto in_line = static_cast<size_t>(static_cast<int64_t>(kCacheLine) / size);
  const BlockForm form = form_of(in_line, size);
  const size_t in_run = size_t{form.in_block} * form.blocks;
  const llvm::Align whole(in_run * static_cast<uint64_t>(size));
  for (; !columns.empty(); columns = columns.drop_front(in_line), first += int64_t{kCacheLine}) {
    for (unsigned lane = 0; lane < w_.width(); lane += form.lanes) {
      llvm::SmallVector<Vectors, 2> parts;
      for (size_t i = 0; i < in_line; i += in_run)
        parts.push_back(lane_runs(b_, form, columns.slice(i, in_run), lane));
      auto store = [&](llvm::function_ref<void(Value*, Value*)> one) {
        for (unsigned i = 0; i < form.lanes; ++i) {
          for (const auto& [part, runs] : llvm::enumerate(parts)) {
            const auto bytes = first + static_cast<int64_t>(part * whole.value());
            one(runs[i], b_.CreateConstGEP1_64(b_.getInt8Ty(), pointers[lane + i], bytes));
          }
        }
      };
      w_.branch(
          past_caches,
          [&] { store([&](Value* run, Value* to) { store_past_caches(run, to, whole); }); },
          [&] { store([&](Value* run, Value* to) { b_.CreateAlignedStore(run, to, align); }); });
    }
  }
}

}  // namespace metal::cpu
