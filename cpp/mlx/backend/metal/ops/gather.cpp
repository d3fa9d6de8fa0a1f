// Gathers and scatters by index arrays.
#include "mlx/backend/metal/ops/gather.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/sort.h"
#include "mlx/primitives/indexing.h"

namespace mlx::core {

namespace {

constexpr const char* kSlices[] = {"element", "row", "general", "line"};
enum ScatterSlices { Row, LongRow, General, Serial, Sorted };
constexpr const char* kScatterSlices[] = {"row", "long", "general", "serial", "sorted"};
constexpr uint32_t kLongRow = 256;  // elements: enough for all lanes to be busy
constexpr const char* kScatterOps[] = {"ScatterMax", "ScatterMin", "ScatterSum", "ScatterProd",
                                       "ScatterAssign"};

// Kernels count elements of a slice, and indices, in 32 bits.
uint32_t checked_count(size_t count, const char* what) {
  if (count > std::numeric_limits<uint32_t>::max()) {
    throw std::invalid_argument(
        "[gather] There are " + std::to_string(count) + " " + what + ": at most " +
        std::to_string(std::numeric_limits<uint32_t>::max()) + " are possible.");
  }
  return static_cast<uint32_t>(count);
}

SliceParams slice_params(const array& a, const Shape& slice_sizes) {
  SliceParams p{};
  auto [shape, strides] = collapse_contiguous_dims(slice_sizes, a.strides());
  if (shape.size() > kMaxSliceDimensions) {
    throw std::invalid_argument("[gather] Slices of more than " +
                                std::to_string(kMaxSliceDimensions) +
                                " dimensions that are not contiguous.");
  }
  p.ndim = static_cast<int32_t>(shape.size());
  size_t size = 1;
  for (int d = 0; d < p.ndim; ++d) {
    p.shape[d] = shape[d];
    p.stride[d] = strides[d];
    size *= shape[d];
  }
  p.size = checked_count(size, "elements in a slice");
  return p;
}

bool is_row(const SliceParams& p) { return p.ndim == 1 && (p.stride[0] == 1 || p.shape[0] == 1); }

// The start of each index's slice, in elements of `a`; the stream keeps it. An index that leaves no
// room for the slice is clamped, or gives a negative offset.
array make_offsets(const array& a, const std::vector<array>& indices, const std::vector<int>& axes,
                   const Shape& slice_sizes, bool clamp, Stream s) {
  static KernelTable table(4 * kDtypes);
  array offsets(indices[0].shape(), int64, nullptr, {});
  allocate_output(offsets);
  auto& encoder = metal::get_command_encoder(s);
  encoder.add_temporary(offsets);
  for (size_t i = 0; i < indices.size(); ++i) {
    array index = row_contiguous(indices[i], s);
    int variant = (i == 0 ? 0 : 1) + (clamp ? 0 : 2);
    auto* kernel = table.get(variant * kDtypes + dtype_index(index.dtype()), [&] {
      return kernel_name("IndexOffsets", i == 0 ? "first" : "next", clamp ? "clamp" : "drop",
                         type_name(index.dtype()));
    });
    int64_t length = a.shape(axes[i]);
    int64_t limit = length - slice_sizes[axes[i]] + 1;
    int64_t stride = a.strides(axes[i]);
    dispatch_line(encoder, index.size(), [&](int64_t first) {
      encoder.set_compute_pipeline_state(kernel);
      encoder.set_input_array(index, 0, first * index.itemsize());
      encoder.set_output_array(offsets, 1, first * 8);
      encoder.set_bytes(length, 2);
      encoder.set_bytes(limit, 3);
      encoder.set_bytes(stride, 4);
    });
  }
  return offsets;
}

// Splits a 1-D array into arrays of one entry.
std::vector<array> entries(const array& starts) {
  std::vector<array> out;
  for (int i = 0; i < starts.shape(0); ++i) {
    out.emplace_back(Shape{1}, starts.dtype(), nullptr, std::vector<array>{});
    out.back().copy_shared_buffer(starts, {1}, {true, true, true}, 1, i * starts.strides(0));
  }
  return out;
}

// Offsets of a view with negative strides could be negative themselves.
array forward_strides(const array& a, Stream s) {
  bool forward = std::all_of(a.strides().begin(), a.strides().end(),
                             [](int64_t stride) { return stride >= 0; });
  return forward ? a : row_contiguous(a, s);
}

std::vector<array> index_arrays(const std::vector<array>& inputs, size_t count) {
  return std::vector<array>(inputs.begin() + 1, inputs.begin() + 1 + count);
}

// Small slices give few threads. Then the indices are shared out too, but each thread must look at
// every index.
uint32_t scatter_owners(ScatterSlices slices, const SliceParams& p, size_t threads) {
  if (slices == Sorted) return p.count;
  const size_t wanted = slices == LongRow || p.count > 4096 ? 16 : 1;
  return slices == Serial
             ? 1
             : static_cast<uint32_t>(next_power_of_2((wanted + threads - 1) / threads));
}

ScatterSlices scatter_slices(const SliceParams& p, bool overlap, Stream s) {
  constexpr uint32_t kFewIndices = 32;  // sorting takes as long as going through so many
  if (overlap) return Serial;
  if (runs_on_gpu(s) && p.count > kFewIndices && p.count <= INT32_MAX) return Sorted;
  if (!is_row(p)) return General;
  return p.size < kLongRow ? Row : LongRow;
}

// The positions of the offsets in ascending order.
array sorted_order(const array& offsets, Stream s) {
  array line(Shape{static_cast<ShapeElem>(offsets.size())}, offsets.dtype(), nullptr, {});
  line.copy_shared_buffer(offsets, {1}, {true, true, true}, offsets.size());
  array order = temporary(line.shape(), uint32, s);
  sort_on_device(line, order, 0, /*positions=*/true, s);
  return order;
}

void run_scatter(int reduce_type, const array& updates, const array& offsets, array& out,
                 SliceParams p, bool overlap, Stream s) {
  static KernelTable table(5 * 5 * kDtypes);
  const bool assign = reduce_type == Scatter::None;
  const ScatterSlices slices = scatter_slices(p, overlap, s);
  // Assignment depends on the size only: the four sizes stand in place of types.
  const int type = assign ? out.dtype().size() : dtype_index(out.dtype());
  auto* kernel = table.get((reduce_type * 5 + slices) * kDtypes + type, [&] {
    return kernel_name(kScatterOps[reduce_type], kScatterSlices[slices],
                       assign ? size_name(out.dtype()) : type_name(out.dtype()));
  });
  // Threads, or SIMD-groups, for each index.
  const size_t threads[] = {(p.size + 7) / 8, (p.size + kScatterStretch - 1) / kScatterStretch,
                            p.size, 1, p.size};
  p.owners = scatter_owners(slices, p, threads[slices]);
  // Sorting is dispatched before the binding starts.
  const std::optional<array> order =
      slices == Sorted ? std::optional(sorted_order(offsets, s)) : std::nullopt;
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(updates, 0);
  encoder.set_input_array(offsets, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(p, 3);
  if (order) {
    encoder.set_input_array(*order, 4);
    dispatch_grid(encoder, threads[slices], p.owners);
  } else if (slices == LongRow) {
    encoder.dispatch_threadgroups(MTL::Size(threads[slices], p.owners, 1), MTL::Size(kLanes, 1, 1));
  } else {
    dispatch_grid(encoder, threads[slices], p.owners, 1,
                  std::clamp<size_t>(8192 / std::max(p.count, 1u), 1, 64));
  }
}

// `indices` along one axis, or offsets into `in`.
void run_gather(const array& in, const array& indices, array& out, IndexedAxis axis,
                const Shape& slice_sizes, Stream s) {
  static KernelTable table(4 * 9 * kDtypes);
  const SliceParams p = slice_params(in, slice_sizes);
  axis.slice_size = p.size;
  const uint32_t count = checked_count(indices.size(), "indices");
  const size_t variant = p.size == 1 ? 0 : !is_row(p) ? 2 : runs_on_gpu(s) ? 3 : 1;
  auto* kernel =
      table.get((variant * 9 + in.itemsize()) * kDtypes + dtype_index(indices.dtype()), [&] {
        return kernel_name("Gather", kSlices[variant], size_name(in.dtype()),
                           type_name(indices.dtype()));
      });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_input_array(indices, 1);
  encoder.set_output_array(out, 2);
  encoder.set_bytes(axis, 3);
  if (variant == 2) encoder.set_bytes(p, 4);
  const size_t threads = variant == 1 ? (p.size + 15) / 16 : p.size;
  variant == 0 ? dispatch_grid(encoder, count) : dispatch_grid(encoder, threads, count);
}

void gather_offsets(const array& in, const array& offsets, array& out, const Shape& slice_sizes,
                    Stream s) {
  // Offsets are neither negative nor out of range.
  const IndexedAxis axis{.length = INT64_MAX, .limit = INT64_MAX, .stride = 1};
  run_gather(in, offsets, out, axis, slice_sizes, s);
}

// Whether each index takes the whole array except one axis, which is not the first: such a slice is
// not contiguous.
bool takes_inner_axis(const array& in, int axis, const Shape& slice_sizes) {
  Shape whole = in.shape();
  whole[axis] = 1;
  const auto before = whole.begin() + axis;
  return slice_sizes == whole && std::any_of(whole.begin(), before, [](int n) { return n > 1; });
}

// Fills the output's memory in the order of the input's axes, with the indices in place of the
// indexed axis. Contiguous runs are copied as a whole, and a consumer that wants this order needs
// no copy.
void gather_inner_axis(const array& in, const array& given, int axis, array& out, Stream s) {
  const array indices = row_contiguous(given, s);
  const int count = static_cast<int>(indices.size());
  Shape shape = in.shape();
  shape[axis] = count;
  const Strides strides = make_contiguous_strides(shape);
  Strides index_strides(in.ndim(), 0);
  index_strides[axis] = 1;
  array places(shape, indices.dtype(), nullptr, {});
  places.copy_shared_buffer(indices, index_strides, {false, false, false}, indices.size());

  Strides out_strides = make_contiguous_strides(indices.shape());
  for (int64_t& stride : out_strides) stride *= strides[axis];
  out_strides.insert(out_strides.end(), strides.begin(), strides.end());
  out.set_data(allocator::malloc(out.nbytes()), out.size(), out_strides, {true, false, false});
  gather_along_axis(in, places, axis, out, s);
}

void copy_base(const array& in, array& out, Stream s) {
  copy(in, out, in.flags().row_contiguous ? CopyType::Vector : CopyType::General, s);
}

}  // namespace

MLX_EVAL(Gather) {
  Stream s = stream();
  const array& in = inputs[0];
  if (out.size() > 0 && in.size() > 0 && axes_.size() == 1 &&
      takes_inner_axis(in, axes_[0], slice_sizes_) && inputs[1].size() <= INT32_MAX) {
    return gather_inner_axis(in, inputs[1], axes_[0], out, s);
  }
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  if (axes_.empty()) {
    // Without indices there is one slice, at the origin.
    return copy_inplace(in, out, slice_sizes_, in.strides(), make_contiguous_strides(slice_sizes_),
                        0, 0, CopyType::General, s);
  }
  if (in.size() == 0) {
    throw std::invalid_argument("[gather] Cannot take elements of an empty array.");
  }
  if (axes_.size() > 1) {
    array source = forward_strides(in, s);
    auto indices = index_arrays(inputs, axes_.size());
    return gather_offsets(source, make_offsets(source, indices, axes_, slice_sizes_, true, s), out,
                          slice_sizes_, s);
  }
  const int64_t length = in.shape(axes_[0]);
  const IndexedAxis axis{.length = length,
                         .limit = length - slice_sizes_[axes_[0]] + 1,
                         .stride = in.strides(axes_[0])};
  run_gather(in, row_contiguous(inputs[1], s), out, axis, slice_sizes_, s);
}

void copy_inplace(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, CopyType type,
                  Stream s, const std::optional<array>& dynamic_in_offset,
                  const std::optional<array>& dynamic_out_offset) {
  if (!dynamic_in_offset && !dynamic_out_offset) {
    return copy_inplace(in, out, shape, in_strides, out_strides, in_offset, out_offset, type, s);
  }
  if (shape_size(shape) == 0) return;
  const auto view = [&](const array& a, const Strides& strides, int64_t offset) {
    array part(shape, a.dtype(), nullptr, {});
    part.copy_shared_buffer(a, strides, {false, false, false}, a.data_size(), offset);
    return part;
  };
  const auto offset_of = [&](const array& offset) { return converted(offset, int64, s); };
  array source = view(in, in_strides, in_offset);
  if (dynamic_in_offset) {
    array found = temporary(shape, in.dtype(), s);
    gather_offsets(source, offset_of(*dynamic_in_offset), found, shape, s);
    source = found;
  }
  if (!dynamic_out_offset) {
    return copy_inplace(source, out, shape, source.strides(), out_strides, 0, out_offset, type, s);
  }
  array target = view(out, out_strides, out_offset);
  SliceParams p = slice_params(target, shape);
  p.count = 1;
  run_scatter(Scatter::None, converted(source, out.dtype(), s), offset_of(*dynamic_out_offset),
              target, p, false, s);
}

MLX_EVAL(DynamicSlice) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  array in = forward_strides(inputs[0], stream());
  array offsets = make_offsets(in, entries(inputs[1]), axes_, slice_size_, true, stream());
  gather_offsets(in, offsets, out, slice_size_, stream());
}

MLX_EVAL(Scatter) {
  Stream s = stream();
  copy_base(inputs[0], out, s);
  const array& last = inputs.back();
  if (last.size() == 0 || out.size() == 0) {
    return;
  }
  array updates = row_contiguous(last, s);
  size_t count = axes_.size();
  Shape slice(last.shape().end() - out.ndim(), last.shape().end());
  array offsets(int64_t(0), int64);
  if (count > 0) {
    offsets = make_offsets(out, index_arrays(inputs, count), axes_, slice, false, s);
  }
  metal::get_command_encoder(s).add_temporary(offsets);
  if (out.dtype() == float64 && reduce_type_ != Scatter::None) {
    check_float64(name(), s);
    return cpu::scatter_float64(reduce_type_, updates, offsets, out, slice, s);
  }
  auto p = slice_params(out, slice);
  p.count = checked_count(updates.size() / p.size, "indices");
  bool overlap = std::any_of(axes_.begin(), axes_.end(), [&](int axis) { return slice[axis] > 1; });
  run_scatter(reduce_type_, updates, offsets, out, p, overlap, s);
}

MLX_EVAL(DynamicSliceUpdate) {
  Stream s = stream();
  copy_base(inputs[0], out, s);
  if (inputs[1].size() == 0) {
    return;
  }
  array update = row_contiguous(inputs[1], s);
  array offsets = make_offsets(out, entries(inputs[2]), axes_, update.shape(), true, s);
  auto p = slice_params(out, update.shape());
  p.count = 1;
  run_scatter(Scatter::None, update, offsets, out, p, false, s);
}

}  // namespace mlx::core
