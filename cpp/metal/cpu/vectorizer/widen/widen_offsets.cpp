// Widens loads, stores, prefetches and copies whose addresses have offsets.

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/vectorizer/memory/block_operations.h"
#include "metal/cpu/vectorizer/memory/columns.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/lane_by_lane.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// A read for as many lanes as fill a block: the starts of blocks, and for each lane its block and
// the element in it.
struct BlockPlan {
  llvm::SmallVector<int64_t> starts;
  llvm::SmallVector<std::pair<int, int>> picks;
};

BlockPlan plan_blocks(llvm::ArrayRef<int64_t> offsets, int64_t size, int64_t phase) {
  const int64_t bytes = size * static_cast<int64_t>(offsets.size());
  BlockPlan plan{cover_with_fewest(offsets, size, bytes, phase), {}};
  for (int64_t offset : offsets) {
    const auto* start = std::prev(llvm::upper_bound(plan.starts, offset));
    plan.picks.emplace_back(start - plan.starts.begin(), (offset - *start) / size);
  }
  return plan;
}

// The largest number of plans, at most `most`, that have the same picks in each run of so many
// plans.
size_t alike(llvm::ArrayRef<BlockPlan> plans, size_t most) {
  size_t count = std::min(llvm::bit_floor(std::max(most, size_t{1})), plans.size());
  for (; count > 1; count /= 2) {
    bool same = plans.size() % count == 0;
    for (size_t i = 0; i < plans.size(); ++i)
      same &= plans[i].picks == plans[i / count * count].picks;
    if (same) break;
  }
  return count;
}

}  // namespace

int64_t MemoryWidener::stride(const Shape& shape) const {
  const int64_t step = shape.offset(1);
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    if (shape.offset(lane) != step * static_cast<int64_t>(lane)) return 0;
  }
  return step;
}

unsigned MemoryWidener::elements_in_block(int64_t size) const {
  return std::min(static_cast<unsigned>(kBlockBytes / size), w_.width());
}

Value* MemoryWidener::load_offsets(const Access& access, Value* pointer, const Shape& shape) {
  const auto size = static_cast<int64_t>(access.size);
  const int64_t step = stride(shape);
  Span span = span_of(shape, size);
  if (step == size && (!w_.mask() || may_read(pointer, shape, span)))
    return load_contiguous(access, w_.first(pointer));
  const MaskedRuns runs = masked_runs(access, shape);
  if (!runs.empty()) return load_masked_runs(access, pointer, shape, runs);
  const unsigned run = run_of_lanes(shape, access.size);
  if (run && (!w_.mask() || w_.costs().isLegalMaskedLoad(
                                llvm::FixedVectorType::get(access.type, run), access.align)))
    return load_lane_runs(access, pointer, shape, run);
  const bool is_window = step % size == 0 && step > 0 && step <= kWidestStride * size;
  // Blocks reach at most one step, or one block, beyond the lanes' elements.
  const int64_t around = is_window ? step : kBlockBytes;
  span = {span.lowest - around, span.end + around};
  const bool fits = llvm::all_of(shape.offsets(), [&](int64_t o) { return o % size == 0; });
  if (!fits || !may_read(pointer, shape, span)) return gather(access, pointer);
  // The rows of a tile may be that short. The columns beside this one are read by other gangs then.
  const bool is_tile =
      step >= 2 * kBlockBytes && pointer->getType()->getPointerAddressSpace() == kThreadgroupMemory;
  if (is_window && !is_tile) return load_window(access, pointer, shape);
  if (step > 0 && !access.is_volatile && size <= kBlockBytes / 2)
    return create_column(b_, w_.wide_type(access.type), w_.first(pointer), step, access.align);
  return load_blocks(access, pointer, shape);
}

// Reads everything between the lowest and the highest address as one block and shuffles it. The
// block is aligned to the structs, so that accesses to other members read the same block.
Value* MemoryWidener::load_window(const Access& access, Value* pointer, const Shape& shape) {
  const auto size = static_cast<int64_t>(access.size);
  const int64_t step = stride(shape);
  const auto [root, constant] = split_constant(pointer, w_.layout());
  const int64_t phase = floor_mod(constant, step);
  Value* first = w_.first(pointer);
  int64_t before = 0;  // bytes of the block before the first lane's element
  if (phase % size == 0 && w_.lanes(root).first && w_.shape(root).has_offsets()) {
    first = b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(root), constant - phase);
    before = phase;
  }
  const auto ratio = static_cast<unsigned>(step / size);
  Value* block = b_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, w_.width() * ratio),
                                      first, access.align, access.is_volatile);
  return b_.CreateShuffleVector(
      block, llvm::createStrideMask(static_cast<unsigned>(before / size), ratio, w_.width()));
}

// Reads a few blocks for each set of lanes that fills one. If neighbouring sets have the same
// picks, their blocks are concatenated to a register and shuffled at once.
Value* MemoryWidener::load_blocks(const Access& access, Value* pointer, const Shape& shape) {
  const auto size = static_cast<int64_t>(access.size);
  const unsigned in_block = elements_in_block(size);
  auto [root, constant] = split_constant(pointer, w_.layout());
  if (constant % size != 0 || !w_.lanes(root).first || !w_.shape(root).has_offsets()) {
    root = pointer;
    constant = 0;
  }
  Value* common = w_.first(root);
  llvm::DenseMap<int64_t, Value*> blocks;
  auto load = [&, constant = constant](int64_t start) {
    Value*& block = blocks[start];
    if (block) return block;
    Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), common, constant + start);
    block = b_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, in_block), address,
                                 access.align, access.is_volatile);
    return block;
  };
  llvm::SmallVector<BlockPlan> plans;
  for (unsigned lane = 0; lane < w_.width(); lane += in_block)
    plans.push_back(
        plan_blocks(llvm::ArrayRef(shape.offsets()).slice(lane, in_block), size, constant));
  const size_t together =
      alike(plans, w_.costs()
                           .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
                           .getFixedValue() /
                       (8 * kBlockBytes));
  llvm::SmallVector<Value*> chunks;
  for (size_t begin = 0; begin < plans.size(); begin += together) {
    const size_t end = begin + together;
    llvm::SmallVector<Value*> wide;  // blocks, concatenated, by their number in the plans
    for (size_t i = 0; i < plans[begin].starts.size(); ++i) {
      llvm::SmallVector<Value*> parts;
      for (size_t plan = begin; plan < end; ++plan) parts.push_back(load(plans[plan].starts[i]));
      wide.push_back(llvm::concatenateVectors(b_, parts));
    }
    llvm::SmallVector<BlockElement> elements;
    for (size_t part = 0; part < together; ++part) {
      for (const auto& [block, element] : plans[begin].picks)
        elements.push_back({wide[block], element + static_cast<int>(part * in_block)});
    }
    chunks.push_back(assemble(b_, elements));
  }
  return llvm::concatenateVectors(b_, chunks);
}

unsigned MemoryWidener::run_of_lanes(const Shape& shape, uint64_t size) const {
  auto are_runs = [&](unsigned run) {
    for (unsigned lane = 0; lane < w_.width(); ++lane) {
      const unsigned in_run = lane % run;
      if (shape.offset(lane) - shape.offset(lane - in_run) != static_cast<int64_t>(in_run * size))
        return false;
    }
    return true;
  };
  unsigned run = w_.width();
  while (!are_runs(run)) run /= 2;
  return run > 1 && static_cast<int64_t>(run * size) >= kBlockBytes ? run : 0;
}

Value* MemoryWidener::load_lane_runs(const Access& access, Value* pointer, const Shape& shape,
                                     unsigned run) {
  Value* first = w_.first(pointer);
  llvm::SmallVector<Value*> parts;
  for (unsigned lane = 0; lane < w_.width(); lane += run) {
    llvm::Type* type = llvm::FixedVectorType::get(access.type, run);
    Value* from = b_.CreateConstGEP1_64(b_.getInt8Ty(), first, shape.offset(lane));
    if (!w_.mask()) {
      parts.push_back(b_.CreateAlignedLoad(type, from, access.align, access.is_volatile));
    } else {
      Value* mask = b_.CreateShuffleVector(w_.mask(), llvm::createSequentialMask(lane, run, 0));
      parts.push_back(b_.CreateMaskedLoad(type, from, access.align, mask));
    }
  }
  return llvm::concatenateVectors(b_, parts);
}

void MemoryWidener::store_lane_runs(const Access& access, Value* pointer, const Shape& shape,
                                    unsigned run, Value* values) {
  auto store = [&](bool masked) {
    Value* first = w_.first(pointer);
    for (unsigned lane = 0; lane < w_.width(); lane += run) {
      const auto lanes = llvm::createSequentialMask(lane, run, 0);
      Value* to = b_.CreateConstGEP1_64(b_.getInt8Ty(), first, shape.offset(lane));
      Value* part = b_.CreateShuffleVector(values, lanes);
      if (masked) {
        b_.CreateMaskedStore(part, to, access.align, b_.CreateShuffleVector(w_.mask(), lanes));
      } else {
        b_.CreateAlignedStore(part, to, access.align, access.is_volatile);
      }
    }
  };
  w_.branch(
      w_.all_run(), [&] { store(false); },
      [&] {
        if (w_.costs().isLegalMaskedStore(llvm::FixedVectorType::get(access.type, run),
                                          access.align)) {
          store(true);
        } else {
          scatter(access, pointer, values);
        }
      });
}

void MemoryWidener::enter(llvm::BasicBlock& block) {
  matrix_elements_.enter(block);
  groups_.clear();
  deferred_.clear();
  find_store_groups(block);
  rows_.clear();
  find_rows(block, llvm::Instruction::Load);
  find_rows(block, llvm::Instruction::Store);
}

// Prefetches the cache lines of the lanes if these are close to each other. Otherwise a prefetch
// does not pay.
void MemoryWidener::prefetch(llvm::IntrinsicInst& hint) {
  constexpr auto kLine = static_cast<int64_t>(kCacheLine);
  constexpr int64_t kMaxLines = 8;
  Value* pointer = hint.getArgOperand(0);
  const Shape shape = w_.shape(pointer);
  if (!shape.has_offsets() || (shape.is_uniform() && is_of_stream(hint))) return;
  int64_t lowest = 0, highest = 0;
  for (int64_t offset : shape.offsets()) {
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset);
  }
  if (highest - lowest > kMaxLines * kLine) return;
  auto fetch = [&](int64_t offset) {
    auto* copy = checked_cast<llvm::CallInst>(hint.clone());
    copy->setArgOperand(0, b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(pointer), offset));
    b_.Insert(copy);
  };
  for (int64_t offset = lowest; offset <= highest; offset += kLine) fetch(offset);
  if (is_of_stream(hint)) return;  // the next gang prefetches the next line
  // Half a line seldom ends in another one.
  if ((highest - lowest) % kLine == 0 || highest - lowest < kLine / 2) return;
  // An access that starts within a line ends in one more line.
  Value* start = b_.CreatePtrToInt(w_.first(pointer), b_.getInt64Ty());
  start = b_.CreateAdd(start, b_.getInt64(lowest % kLine));
  Value* aligned = b_.CreateICmpEQ(b_.CreateAnd(start, kLine - 1), b_.getInt64(0));
  w_.branch(aligned, [] {}, [&] { fetch(highest); });
}

// block_operations.h says which copies there are.
void MemoryWidener::copy(llvm::MemCpyInst& copy) {
  if (!w_.shape(copy.getDest()).has_offsets() || !w_.shape(copy.getSource()).has_offsets())
    return copy_lane_by_lane(copy);
  Value* conditions[] = {w_.lanes(copy.getDest()).holds, w_.lanes(copy.getSource()).holds,
                         w_.all_run()};
  Value* at_once = nullptr;
  for (Value* condition : conditions) {
    if (condition) at_once = at_once ? b_.CreateAnd(at_once, condition) : condition;
  }
  w_.branch(at_once, [&] { copy_runs(copy); }, [&] { copy_lane_by_lane(copy); });
}

// Reads for all lanes before it writes for any.
void MemoryWidener::copy_runs(llvm::MemCpyInst& copy) {
  const Shape to = w_.shape(copy.getDest()), from = w_.shape(copy.getSource());
  const auto size =
      static_cast<int64_t>(checked_cast<llvm::ConstantInt>(copy.getLength())->getZExtValue());
  llvm::SmallVector<std::pair<unsigned, Value*>> runs;  // a run's first lane and its data
  for (unsigned lane = 0, end; lane < w_.width(); lane = end) {
    for (end = lane + 1; end < w_.width(); ++end) {
      if (to.offset(end) != to.offset(end - 1) + size ||
          from.offset(end) != from.offset(end - 1) + size)
        break;
    }
    auto* type = llvm::FixedVectorType::get(
        b_.getInt32Ty(), static_cast<unsigned>(size / kCopyGranule) * (end - lane));
    Value* address =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(copy.getSource()), from.offset(lane));
    runs.emplace_back(lane, b_.CreateAlignedLoad(type, address, llvm::Align(kCopyGranule)));
  }
  for (const auto& [lane, values] : runs) {
    Value* address =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(copy.getDest()), to.offset(lane));
    b_.CreateAlignedStore(values, address, llvm::Align(kCopyGranule));
  }
}

void MemoryWidener::copy_lane_by_lane(llvm::MemCpyInst& copy) {
  const LaneAddresses to = lane_addresses(w_, w_.address(copy.getDest()));
  const LaneAddresses from = lane_addresses(w_, w_.address(copy.getSource()));
  w_.for_each_lane([&](Value* lane) {
    b_.CreateMemCpy(to.at(b_, lane), llvm::Align(kCopyGranule), from.at(b_, lane),
                    llvm::Align(kCopyGranule), copy.getLength());
  });
}

}  // namespace metal::cpu
