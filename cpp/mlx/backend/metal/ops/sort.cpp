// Sorting on a device that has memory of its own.
#include "mlx/backend/metal/ops/sort.h"

#include <algorithm>
#include <bit>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/views_in_eval.h"
#include "mlx/backend/metal/kernels/sort_params.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

// What the kernels do.
enum class Step { Lines, LongerLines, Tiles, Results, Items };
constexpr const char* kSteps[] = {"Lines", "LongerLines", "Tiles", "Results", "Items"};

MTL::ComputePipelineState* sort_kernel(Step step, Dtype dtype, bool positions) {
  static KernelTable table(5 * 2 * kDtypes);
  const int index = (static_cast<int>(step) * 2 + (positions ? 1 : 0)) * kDtypes;
  return table.get(index + dtype_index(dtype), [&] {
    const char* sort = positions ? "ArgSort" : "Sort";
    return kernel_name((std::string(sort) + kSteps[static_cast<int>(step)]).c_str(),
                       type_name(dtype));
  });
}

// Kernels that only know the size of an item.
enum class Pass { Merge, Count, Move };
constexpr const char* kPasses[] = {"SortMerge", "RadixCount", "RadixMove"};

MTL::ComputePipelineState* pass_kernel(Pass pass, size_t item) {
  static KernelTable table(3 * 3);
  const auto number = static_cast<size_t>(pass);
  const auto size = static_cast<size_t>(std::bit_width(item)) - 3;
  return table.get(number * 3 + size,
                   [&] { return kernel_name(kPasses[number], std::to_string(item)); });
}

// The bytes of an item in kernels/sort.metal.
size_t item_size(Dtype dtype, bool positions) {
  const size_t key = dtype.size() <= 4 ? 4 : 8;
  return positions || dtype == complex64 ? 2 * key : key;
}

// The longest line that a threadgroup sorts if items have at most 8 bytes.
constexpr uint32_t kLongerLine = 2 * kSortTile;

// Memory for all items.
array items_in_memory(const SortParams& params, size_t item, Stream s) {
  const auto words = static_cast<ShapeElem>(item / sizeof(uint32_t));
  return temporary(
      {static_cast<ShapeElem>(params.lines), static_cast<ShapeElem>(params.slots), words}, uint32,
      s);
}

void dispatch_tiles(metal::CommandEncoder& encoder, const SortParams& params,
                    size_t tile = kSortTile) {
  const size_t items = size_t{params.lines} * params.slots;
  encoder.dispatch_threadgroups(MTL::Size((items + tile - 1) / tile, 1, 1),
                                MTL::Size(tile / kSortOwn, 1, 1));
}

void sort_tiles(Step step, const array& in, array& out, bool positions, const SortParams& params,
                Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(sort_kernel(step, in.dtype(), positions));
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(params, 2);
  dispatch_tiles(encoder, params, step == Step::LongerLines ? kLongerLine : kSortTile);
}

// Merges runs until each line is one.
array merged(array items, size_t item, SortParams params, Stream s) {
  array other = items_in_memory(params, item, s);
  for (uint64_t run = kSortTile; run < params.slots; run *= 2) {
    params.run = static_cast<uint32_t>(run);
    auto& encoder = metal::get_command_encoder(s);
    encoder.set_compute_pipeline_state(pass_kernel(Pass::Merge, item));
    encoder.set_input_array(items, 0);
    encoder.set_output_array(other, 1);
    encoder.set_bytes(params, 2);
    dispatch_tiles(encoder, params);
    std::swap(items, other);
  }
  return items;
}

void write_results(const array& items, const array& in, array& out, bool positions,
                   const SortParams& params, Stream s) {
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(sort_kernel(Step::Results, in.dtype(), positions));
  encoder.set_input_array(items, 0);
  encoder.set_input_array(in, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(params, 3);
  dispatch_grid(encoder, params.length, params.lines);
}

// ---- long lines ----

// From this length on, moving items by eight bits of their keys at a time is faster than merging.
constexpr uint32_t kLongLine = 1 << 17;

// The bits of the keys in which items differ.
struct KeyBits {
  uint32_t first, end;
};

KeyBits key_bits(Dtype dtype, bool positions) {
  const bool is_short = dtype == bool_ || dtype == uint8 || dtype == uint16;
  const uint32_t end = 8 * static_cast<uint32_t>(is_short || dtype.size() == 8 ? dtype.size() : 4);
  // 16-bit floats become float, whose lower bits only tell their sign.
  const uint32_t first = dtype == float16 ? 13 : dtype == bfloat16 ? 16 : 0;
  const uint32_t below = positions && dtype.size() <= 4 ? 32 : 0;  // positions
  return {below + first, below + end};
}

class RadixSort {
 public:
  RadixSort(const array& in, bool positions, const SortParams& params, Stream s)
      : item_(item_size(in.dtype(), positions)),
        sizes_(params),
        params_{params.length, tiles_of(params.length), 0, 0},
        s_(s),
        items_(items_in_memory(params, item_, s)),
        other_(items_in_memory(params, item_, s)),
        counts_(uints(size_t{params.lines} * kRadixThreads, params_.tiles)),
        totals_(uints(params.lines, kRadixThreads)) {
    auto& encoder = metal::get_command_encoder(s_);
    encoder.set_compute_pipeline_state(sort_kernel(Step::Items, in.dtype(), positions));
    encoder.set_input_array(in, 0);
    encoder.set_output_array(items_, 1);
    encoder.set_bytes(params_, 2);
    dispatch_grid(encoder, params.length, params.lines);
    const KeyBits bits = key_bits(in.dtype(), positions);
    for (params_.shift = bits.first; params_.shift < bits.end; params_.shift += 8) move();
  }

  const array& items() const { return items_; }

 private:
  uint32_t tiles_of(uint32_t length) const {
    const auto tile = static_cast<uint32_t>(kRadixTileBytes / item_);
    return (length + tile - 1) / tile;
  }

  array uints(size_t rows, size_t columns) const {
    return temporary({static_cast<ShapeElem>(rows), static_cast<ShapeElem>(columns)}, uint32, s_);
  }

  // Sorts by a digit.
  void move() {
    auto& encoder = metal::get_command_encoder(s_);
    const MTL::Size tiles(params_.tiles, sizes_.lines, 1), threads(kRadixThreads, 1, 1);
    encoder.set_compute_pipeline_state(pass_kernel(Pass::Count, item_));
    encoder.set_input_array(items_, 0);
    encoder.set_output_array(counts_, 1);
    encoder.set_bytes(params_, 2);
    encoder.dispatch_threadgroups(tiles, threads);

    encoder.set_compute_pipeline_state(places_kernel());
    encoder.set_output_array(counts_, 0);
    encoder.set_output_array(totals_, 1);
    encoder.set_bytes(params_, 2);
    encoder.dispatch_threadgroups(MTL::Size(size_t{sizes_.lines} * kRadixThreads, 1, 1), threads);

    encoder.set_compute_pipeline_state(pass_kernel(Pass::Move, item_));
    encoder.set_input_array(items_, 0);
    encoder.set_output_array(other_, 1);
    encoder.set_input_array(counts_, 2);
    encoder.set_input_array(totals_, 3);
    encoder.set_bytes(params_, 4);
    encoder.dispatch_threadgroups(tiles, threads);
    std::swap(items_, other_);
  }

  static MTL::ComputePipelineState* places_kernel() {
    static KernelTable table(1);
    return table.get(0, [] { return std::string("radix_places"); });
  }

  const size_t item_;
  const SortParams sizes_;
  RadixParams params_;
  const Stream s_;
  array items_, other_, counts_, totals_;
};

// Sorts the rows of a contiguous array.
void sort_rows(const array& in, array& out, bool positions, Stream s) {
  SortParams params{};
  params.length = static_cast<uint32_t>(in.shape(-1));
  params.lines = static_cast<uint32_t>(in.size() / params.length);
  if (params.length <= kSortTile) {
    params.slots = std::bit_ceil(params.length);
    return sort_tiles(Step::Lines, in, out, positions, params, s);
  }
  const size_t item = item_size(in.dtype(), positions);
  if (params.length <= kLongerLine && item <= 8) {
    params.slots = kLongerLine;
    return sort_tiles(Step::LongerLines, in, out, positions, params, s);
  }
  if (params.length >= kLongLine) {
    params.slots = params.length;
    const RadixSort sorted(in, positions, params, s);
    return write_results(sorted.items(), in, out, positions, params, s);
  }
  params.slots = (params.length + kSortTile - 1) / kSortTile * kSortTile;
  array items = items_in_memory(params, item, s);
  sort_tiles(Step::Tiles, in, items, positions, params, s);
  write_results(merged(items, item, params, s), in, out, positions, params, s);
}

// ---- partitions ----

// A threadgroup partitions a line. Lines that are short are sorted as fast, and so are few long
// ones, of which it would be too few threadgroups.
constexpr uint32_t kLongestOfFewLines = 1 << 18;
constexpr uint32_t kManyLines = 64;

void partition_rows(const array& in, array& out, int kth, bool positions, Stream s) {
  const auto length = static_cast<uint32_t>(in.shape(-1));
  const auto lines = static_cast<uint32_t>(in.size() / length);
  if (length <= kSortTile || (length > kLongestOfFewLines && lines < kManyLines))
    return sort_rows(in, out, positions, s);
  const auto place = static_cast<uint32_t>(kth);
  PartitionParams params{length, place, 0, 0};
  if (place < kPartitionSorted) {
    params.sorted = place + 1;
  } else if (length - place <= kPartitionSorted) {
    params.sorted_first = place;
    params.sorted = length - place;
  }
  static KernelTable table(2 * kDtypes);
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(
      table.get((positions ? kDtypes : 0) + dtype_index(in.dtype()), [&] {
        return kernel_name(positions ? "ArgPartition" : "Partition", type_name(in.dtype()));
      }));
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(params, 2);
  encoder.dispatch_threadgroups(MTL::Size(lines, 1, 1), MTL::Size(kPartitionThreads, 1, 1));
}

// Calls order_rows(in, out) for contiguous rows, into which it brings the lines along the axis.
template <typename F>
void along_axis(const array& in, array& out, int axis, Stream s, F order_rows) {
  const int last = static_cast<int>(in.ndim()) - 1;
  const array rows = row_contiguous(swapaxes_in_eval(in, axis, last), s);
  if (axis == last) return order_rows(rows, out);
  array ordered = temporary(rows.shape(), out.dtype(), s);
  order_rows(rows, ordered);
  copy_inplace(swapaxes_in_eval(ordered, axis, last), out, CopyType::General, s);
}

}  // namespace

void sort_on_device(const array& in, array& out, int axis, bool positions, Stream s) {
  along_axis(in, out, axis, s,
             [&](const array& rows, array& sorted) { sort_rows(rows, sorted, positions, s); });
}

void partition_on_device(const array& in, array& out, int axis, int kth, bool positions, Stream s) {
  along_axis(in, out, axis, s, [&](const array& rows, array& parted) {
    partition_rows(rows, parted, kth, positions, s);
  });
}

}  // namespace mlx::core
