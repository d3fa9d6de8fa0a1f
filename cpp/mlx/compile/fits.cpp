// Which shapes of inputs primitives accept: a function for each family.
#include "mlx/compile/fits.h"

#include <algorithm>
#include <set>
#include <typeindex>
#include <unordered_map>

#include "mlx/dtype_utils.h"
#include "mlx/errors.h"
#include "mlx/fast/metal_kernel/custom_kernel.h"
#include "mlx/primitives.h"
#include "mlx/primitives/decompositions.h"
#include "mlx/primitives/fft.h"
#include "mlx/primitives/grouped.h"
#include "mlx/primitives/quantized.h"

namespace mlx::core {

namespace {

using Inputs = std::vector<array>;

int rank_of(const array& a) { return static_cast<int>(a.ndim()); }

bool is_axis(int axis, const array& a) { return axis >= 0 && axis < rank_of(a); }

bool are_axes(const std::vector<int>& axes, int rank) {
  const std::set<int> all(axes.begin(), axes.end());
  return all.size() == axes.size() && (all.empty() || (*all.begin() >= 0 && *all.rbegin() < rank));
}

bool none_negative(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int n) { return n >= 0; });
}

bool begins_like(const array& a, const array& b, int count) {
  return rank_of(a) >= count && rank_of(b) >= count &&
         std::equal(a.shape().begin(), a.shape().begin() + count, b.shape().begin());
}

// Whether all lengths except that of one axis are equal.
bool differs_along(int axis, const array& a, const array& b) {
  if (a.ndim() != b.ndim() || !is_axis(axis, a)) return false;
  for (int i = 0; i < rank_of(a); ++i) {
    if (i != axis && a.shape(i) != b.shape(i)) return false;
  }
  return true;
}

// Whether the array has at least so many elements along each axis.
bool holds(const array& a, const Shape& part) {
  if (part.size() != a.ndim() || !none_negative(part)) return false;
  for (int i = 0; i < rank_of(a); ++i) {
    if (part[i] > a.shape(i)) return false;
  }
  return true;
}

bool is_square(const array& a) { return a.ndim() >= 2 && a.shape(-1) == a.shape(-2); }

template <size_t count>
bool takes(const Primitive&, const Inputs& in) {
  return in.size() == count;
}

// ---- slices, gathers and scatters ----

bool slice_fits(const array& a, const Shape& start, const Shape& end, const Shape& stride) {
  const size_t rank = a.ndim();
  if (start.size() != rank || end.size() != rank || stride.size() != rank) return false;
  for (size_t i = 0; i < rank; ++i) {
    const int length = a.shape()[i];
    const bool forwards = stride[i] > 0 && 0 <= start[i] && start[i] <= end[i] && end[i] <= length;
    const bool backwards =
        stride[i] < 0 && -1 <= end[i] && end[i] <= start[i] && start[i] < std::max(length, 1);
    if (!forwards && !backwards) return false;
  }
  return true;
}

bool fits_slice(const Primitive& p, const Inputs& in) {
  const auto [start, end, stride] = static_cast<const Slice&>(p).state();
  return in.size() == 1 && slice_fits(in[0], start, end, stride);
}

bool fits_slice_update(const Primitive& p, const Inputs& in) {
  const auto [start, end, stride] = static_cast<const SliceUpdate&>(p).state();
  if (in.size() != 2 || !slice_fits(in[0], start, end, stride)) return false;
  if (in[1].ndim() != in[0].ndim()) return false;
  for (int i = 0; i < rank_of(in[1]); ++i) {
    const int64_t length = (int64_t{end[i]} - start[i] + stride[i] + (stride[i] > 0 ? -1 : 1));
    if (in[1].shape(i) != length / stride[i]) return false;
  }
  return true;
}

bool fits_dynamic_slice(const Primitive& p, const Inputs& in) {
  const auto [axes, size] = static_cast<const DynamicSlice&>(p).state();
  return in.size() == 2 && holds(in[0], size) && are_axes(axes, rank_of(in[0])) &&
         in[1].size() == axes.size();
}

bool fits_dynamic_slice_update(const Primitive& p, const Inputs& in) {
  const auto [axes] = static_cast<const DynamicSliceUpdate&>(p).state();
  return in.size() == 3 && holds(in[0], in[1].shape()) && are_axes(axes, rank_of(in[0])) &&
         in[2].size() == axes.size();
}

bool have_one_shape(const Inputs& in, size_t begin, size_t end) {
  for (size_t i = begin + 1; i < end; ++i) {
    if (in[i].shape() != in[begin].shape()) return false;
  }
  return true;
}

bool fits_gather(const Primitive& p, const Inputs& in) {
  const auto [axes, sizes] = static_cast<const Gather&>(p).state();
  return in.size() == 1 + axes.size() && holds(in[0], sizes) && are_axes(axes, rank_of(in[0])) &&
         have_one_shape(in, 1, in.size());
}

bool fits_scatter(const Primitive& p, const Inputs& in) {
  const auto [type, axes] = static_cast<const Scatter&>(p).state();
  if (in.size() != 2 + axes.size() || !are_axes(axes, rank_of(in[0]))) return false;
  const array& updates = in.back();
  const int rank = rank_of(updates) - rank_of(in[0]);  // that of the indices
  if (rank < 0 || !holds(in[0], {updates.shape().begin() + rank, updates.shape().end()})) {
    return false;
  }
  return axes.empty() || (rank_of(in[1]) == rank && begins_like(in[1], updates, rank) &&
                          have_one_shape(in, 1, in.size() - 1));
}

bool fits_gather_axis(const Primitive& p, const Inputs& in) {
  const auto [axis] = static_cast<const GatherAxis&>(p).state();
  return in.size() == 2 && differs_along(axis, in[0], in[1]);
}

bool fits_scatter_axis(const Primitive& p, const Inputs& in) {
  const auto [type, axis] = static_cast<const ScatterAxis&>(p).state();
  return in.size() == 3 && differs_along(axis, in[0], in[1]) && have_one_shape(in, 1, 3);
}

// ---- shapes ----

bool fits_as_strided(const Primitive& p, const Inputs& in) {
  const auto [shape, strides, offset] = static_cast<const AsStrided&>(p).state();
  if (in.size() != 1 || shape.size() != strides.size() || !none_negative(shape)) return false;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  __int128 first = static_cast<__int128>(offset), last = first;
  for (size_t i = 0; i < shape.size(); ++i) {
    const __int128 span = static_cast<__int128>(shape[i] - 1) * strides[i];
    (span < 0 ? first : last) += span;
  }
  return first >= 0 && last < static_cast<__int128>(in[0].size());
}

bool fits_broadcast(const Primitive& p, const Inputs& in) {
  return !in.empty() && none_negative(std::get<0>(static_cast<const Broadcast&>(p).state()));
}

bool fits_broadcast_axes(const Primitive&, const Inputs& in) {
  return !in.empty() &&
         std::all_of(in.begin(), in.end(), [](const array& a) { return a.ndim() >= 2; });
}

bool fits_concatenate(const Primitive& p, const Inputs& in) {
  const auto [axis] = static_cast<const Concatenate&>(p).state();
  return !in.empty() && std::all_of(in.begin(), in.end(), [&, axis = axis](const array& a) {
    return differs_along(axis, in[0], a);
  });
}

bool fits_expand_dims(const Primitive& p, const Inputs& in) {
  const auto [axes] = static_cast<const ExpandDims&>(p).state();
  return in.size() == 1 && are_axes(axes, rank_of(in[0]) + static_cast<int>(axes.size())) &&
         std::is_sorted(axes.begin(), axes.end());
}

bool fits_flatten(const Primitive& p, const Inputs& in) {
  const auto [start, end] = static_cast<const Flatten&>(p).state();
  return in.size() == 1 && is_axis(start, in[0]) && is_axis(end, in[0]) && start <= end;
}

bool fits_number_of_elements(const Primitive& p, const Inputs& in) {
  const auto [axes, inverted, dtype] = static_cast<const NumberOfElements&>(p).state();
  return in.size() == 1 && are_axes(axes, rank_of(in[0]));
}

bool fits_pad(const Primitive& p, const Inputs& in) {
  const auto [axes, low, high] = static_cast<const Pad&>(p).state();
  return in.size() == 2 && are_axes(axes, rank_of(in[0])) && low.size() == axes.size() &&
         high.size() == axes.size() && none_negative(low) && none_negative(high) &&
         in[1].ndim() == 0;
}

// One length may be -1: it follows from the others.
bool is_request(const Shape& shape) {
  return std::count(shape.begin(), shape.end(), -1) <= 1 &&
         std::all_of(shape.begin(), shape.end(), [](int n) { return n >= -1; });
}

bool fits_reshape(const Primitive& p, const Inputs& in) {
  return in.size() == 1 && is_request(std::get<0>(static_cast<const Reshape&>(p).state()));
}

bool fits_split(const Primitive& p, const Inputs& in) {
  const auto [indices, axis] = static_cast<const Split&>(p).state();
  if (in.size() != 1 || !is_axis(axis, in[0])) return false;
  const int length = in[0].shape(axis);
  return std::all_of(indices.begin(), indices.end(),
                     [&](int index) { return 0 <= index && index <= length; });
}

bool fits_squeeze(const Primitive& p, const Inputs& in) {
  const auto [axes] = static_cast<const Squeeze&>(p).state();
  if (in.size() != 1 || !are_axes(axes, rank_of(in[0]))) return false;
  return std::is_sorted(axes.begin(), axes.end()) &&
         std::all_of(axes.begin(), axes.end(), [&](int axis) { return in[0].shape(axis) == 1; });
}

bool fits_transpose(const Primitive& p, const Inputs& in) {
  const auto [axes] = static_cast<const Transpose&>(p).state();
  return in.size() == 1 && axes.size() == in[0].ndim() && are_axes(axes, rank_of(in[0]));
}

bool fits_unflatten(const Primitive& p, const Inputs& in) {
  const auto [axis, shape] = static_cast<const Unflatten&>(p).state();
  if (in.size() != 1 || !is_axis(axis, in[0]) || !is_request(shape)) return false;
  int64_t known = 1;
  for (int extent : shape) known = saturated_product(known, extent < 0 ? 1 : extent);
  const int length = in[0].shape(axis);
  return none_negative(shape) ? known == length : known > 0 && length % known == 0;
}

bool fits_view(const Primitive& p, const Inputs& in) {
  if (in.size() != 1) return false;
  const int64_t from = in[0].dtype().size();
  const int64_t to = dtype_of(std::get<0>(static_cast<const View&>(p).state())).size();
  return in[0].ndim() == 0 ? from == to : in[0].shape(-1) * from % to == 0;
}

// ---- along axes ----

bool fits_reduce(const Primitive& p, const Inputs& in) {
  const auto [type, axes] = static_cast<const Reduce&>(p).state();
  return in.size() == 1 && are_axes(axes, rank_of(in[0]));
}

bool fits_variance(const Primitive& p, const Inputs& in) {
  const auto [axes, ddof] = static_cast<const Variance&>(p).state();
  return in.size() == 1 && are_axes(axes, rank_of(in[0]));
}

bool fits_arg_reduce(const Primitive& p, const Inputs& in) {
  const auto [type, axis] = static_cast<const ArgReduce&>(p).state();
  return in.size() == 1 && is_axis(axis, in[0]) && in[0].shape(axis) > 0;
}

bool fits_scan(const Primitive& p, const Inputs& in) {
  const int axis = std::get<1>(static_cast<const Scan&>(p).state());
  return in.size() == 1 && is_axis(axis, in[0]);
}

bool has_last_axis(const Primitive&, const Inputs& in) {
  return in.size() == 1 && in[0].ndim() > 0;
}

bool is_row_like(const array& parameter, const array& rows) {
  return rows.ndim() > 0 && parameter.ndim() == 1 && parameter.shape(0) == rows.shape(-1);
}

bool fits_normalize(const Primitive&, const Inputs& in) {
  return in.size() == 3 && is_row_like(in[1], in[0]) && is_row_like(in[2], in[0]);
}

bool fits_rope(const Primitive& p, const Inputs& in) {
  const auto [dims, traditional, backwards, scale, exponent] = static_cast<const RoPE&>(p).state();
  if (in.size() < 2 || in.size() > 3 || rank_of(in[0]) < 3) return false;
  const Shape speeds{dims / 2};
  return dims > 0 && dims % 2 == 0 && dims <= in[0].shape(-1) && in[1].dtype() == int32 &&
         (in[1].size() == 1 || in[1].shape() == Shape{in[0].shape(0)}) &&
         (in.size() == 2 || (in[2].shape() == speeds && in[2].dtype() == float32));
}

bool fits_attention(const Primitive& p, const Inputs& in) {
  const auto [scale, causal] = static_cast<const Attention&>(p).state();
  return Attention::fits(in, causal);
}

bool fits_normalize_vjp(const Primitive&, const Inputs& in) {
  return in.size() == 3 && is_row_like(in[1], in[0]) && in[2].shape() == in[0].shape();
}

template <typename T>
bool fits_sort(const Primitive& p, const Inputs& in) {
  const auto [axis] = static_cast<const T&>(p).state();
  return in.size() == 1 && is_axis(axis, in[0]);
}

template <typename T>
bool fits_partition(const Primitive& p, const Inputs& in) {
  const auto [kth, axis] = static_cast<const T&>(p).state();
  return in.size() == 1 && is_axis(axis, in[0]) && kth >= 0 && kth < in[0].shape(axis);
}

bool fits_fft(const Primitive& p, const Inputs& in) {
  const auto [kind, axes, inverse, length, scale] = static_cast<const FFT&>(p).state();
  if (in.size() != 1 || !are_axes(axes, rank_of(in[0]))) return false;
  if (kind == FFTKind::Complex) return true;
  if (axes.size() != 1) return false;
  return kind == FFTKind::RealToComplex || in[0].shape(axes[0]) == length / 2 + 1;
}

bool fits_random_bits(const Primitive& p, const Inputs& in) {
  const auto [shape, width] = static_cast<const RandomBits&>(p).state();
  return in.size() == 1 && in[0].ndim() > 0 && in[0].shape(-1) == 2 && none_negative(shape) &&
         (width == 1 || width == 2 || width == 4);
}

// ---- matrices ----

bool can_multiply(const array& a, const array& b) {
  return a.ndim() >= 2 && a.ndim() == b.ndim() && begins_like(a, b, rank_of(a) - 2) &&
         a.shape(-1) == b.shape(-2);
}

bool fits_matmul(const Primitive&, const Inputs& in) {
  return in.size() == 2 && can_multiply(in[0], in[1]);
}

bool fits_addmm(const Primitive&, const Inputs& in) {
  if (in.size() != 3 || !can_multiply(in[0], in[1])) return false;
  return begins_like(in[2], in[0], rank_of(in[0]) - 1) && in[2].ndim() == in[0].ndim() &&
         in[2].shape(-1) == in[1].shape(-1);
}

bool fits_gather_mm(const Primitive&, const Inputs& in) {
  return in.size() == 4 && in[0].ndim() == 3 && in[1].ndim() == 3 &&
         in[0].shape(-1) == in[1].shape(-2) && have_one_shape(in, 2, 4);
}

bool fits_segmented_mm(const Primitive&, const Inputs& in) {
  return in.size() == 3 && in[0].ndim() == 2 && in[1].ndim() == 2 &&
         in[0].shape(1) == in[1].shape(0) && in[2].ndim() > 0 && in[2].shape(-1) == 2;
}

bool is_matrix(const Primitive&, const Inputs& in) { return in.size() == 1 && in[0].ndim() >= 2; }

bool is_square_matrix(const Primitive&, const Inputs& in) {
  return in.size() == 1 && is_square(in[0]);
}

bool fits_solve(const Primitive&, const Inputs& in) {
  return in.size() == 2 && is_square(in[0]) && can_multiply(in[0], in[1]);
}

bool fits_convolution(const Primitive& p, const Inputs& in) {
  const auto [part, window] = static_cast<const Convolution&>(p).state();
  if (in.size() != 2 || in[0].ndim() != in[1].ndim() || in[0].ndim() < 3) return false;
  const size_t spatial = in[0].ndim() - 2;
  auto are = [&](const std::vector<int>& values, int least) {
    return values.size() == spatial &&
           std::all_of(values.begin(), values.end(), [&](int n) { return n >= least; });
  };
  if (!are(window.stride, 1) || !are(window.dilation, 1) || !are(window.low, 0) ||
      window.high.size() != spatial || window.groups < 1) {
    return false;
  }
  switch (part) {
    case ConvolutionPart::Output:
      return in[0].shape(-1) == int64_t{in[1].shape(-1)} * window.groups &&
             in[1].shape(0) % window.groups == 0;
    case ConvolutionPart::Input:
      return in[0].shape(0) == in[1].shape(-1) && in[0].shape(0) % window.groups == 0;
    default:
      return in[0].shape(0) == in[1].shape(0) && in[0].shape(-1) % window.groups == 0 &&
             in[1].shape(-1) % window.groups == 0;
  }
}

// ---- quantised arrays ----

bool is_possible(const Quantization& q) { return q.group_size > 0 && q.bits > 0 && q.bits <= 8; }

bool fits_quantize(const Primitive& p, const Inputs& in) {
  const auto [q] = static_cast<const Quantize&>(p).state();
  return is_possible(q) && !in.empty() && in[0].ndim() > 0 && in[0].shape(-1) % q.group_size == 0;
}

// Whether the inputs from `first` on are a quantised array.
bool are_quantized(const Quantization& q, const Inputs& in, size_t first) {
  if (!is_possible(q) || in.size() < first + 2 + q.affine()) return false;
  const array &w = in[first], &scales = in[first + 1];
  return w.ndim() > 0 && w.ndim() == scales.ndim() && begins_like(w, scales, rank_of(w) - 1) &&
         q.numbers(w.shape(-1)) == int64_t{scales.shape(-1)} * q.group_size &&
         (!q.affine() || in[first + 2].shape() == scales.shape());
}

bool fits_dequantize(const Primitive& p, const Inputs& in) {
  const auto [q, dtype] = static_cast<const Dequantize&>(p).state();
  return are_quantized(q, in, 0);
}

bool can_multiply_quantized(const array& x, const array& w, const Quantization& q, bool transpose) {
  if (x.ndim() == 0 || w.ndim() < 2) return false;
  return x.shape(-1) == (transpose ? q.numbers(w.shape(-1)) : int64_t{w.shape(-2)});
}

bool fits_quantized_matmul(const Primitive& p, const Inputs& in) {
  const auto [q, transpose] = static_cast<const QuantizedMatmul&>(p).state();
  return in.size() >= 3 && are_quantized(q, in, 1) &&
         can_multiply_quantized(in[0], in[1], q, transpose) &&
         (in[1].ndim() == 2 ||
          (in[0].ndim() == in[1].ndim() && begins_like(in[0], in[1], rank_of(in[0]) - 2)));
}

bool fits_gather_qmm(const Primitive& p, const Inputs& in) {
  const auto [q, transpose] = static_cast<const GatherQMM&>(p).state();
  return in.size() == size_t{5} + q.affine() && are_quantized(q, in, 1) && in[0].ndim() == 3 &&
         in[1].ndim() == 3 && can_multiply_quantized(in[0], in[1], q, transpose) &&
         have_one_shape(in, in.size() - 2, in.size());
}

bool fits_custom_kernel(const Primitive& p, const Inputs& in) {
  const auto& launch = static_cast<const fast::CustomKernel&>(p).launch();
  const size_t num_outputs = launch.output_shapes.size();
  for (const auto& slot : launch.variant->slots) {
    const size_t count = slot.kind == fast::Slot::Kind::Output ? num_outputs : in.size();
    if (slot.array < 0 || static_cast<size_t>(slot.array) >= count) return false;
  }
  for (size_t i = 0; i < launch.initial_inputs.size(); ++i) {
    const int from = launch.initial_inputs[i];
    if (from < 0) continue;
    if (i >= num_outputs || from >= static_cast<int>(in.size())) return false;
    if (in[from].shape() != launch.output_shapes[i]) return false;
  }
  return std::all_of(launch.output_shapes.begin(), launch.output_shapes.end(), none_negative);
}

using Rule = bool (*)(const Primitive&, const Inputs&);

#define RULE(Class, rule) {typeid(Class), &rule},

const std::unordered_map<std::type_index, Rule>& rules() {
  static const std::unordered_map<std::type_index, Rule> all = {
#define MLX_UNARY(Class, ...) RULE(Class, takes<1>)
#define MLX_UNARY_VARIANT(...)
#define MLX_BINARY(Class, ...) RULE(Class, takes<2>)
#define MLX_BINARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"
      // clang-format off
      RULE(AsType, takes<1>) RULE(Contiguous, takes<1>) RULE(ConvertFP8, takes<1>)
      RULE(Copy, takes<1>) RULE(Full, takes<1>) RULE(Log, takes<1>) RULE(Sqrt, takes<1>)
      RULE(StopGradient, takes<1>) RULE(BitwiseBinary, takes<2>) RULE(DivMod, takes<2>)
      RULE(Equal, takes<2>) RULE(Select, takes<3>) RULE(Clip, takes<3>) RULE(Arange, takes<0>)
      RULE(Slice, fits_slice) RULE(SliceUpdate, fits_slice_update)
      RULE(DynamicSlice, fits_dynamic_slice) RULE(DynamicSliceUpdate, fits_dynamic_slice_update)
      RULE(Gather, fits_gather) RULE(GatherAxis, fits_gather_axis)
      RULE(Scatter, fits_scatter) RULE(ScatterAxis, fits_scatter_axis)
      RULE(AsStrided, fits_as_strided) RULE(Broadcast, fits_broadcast)
      RULE(BroadcastAxes, fits_broadcast_axes)
      RULE(Concatenate, fits_concatenate) RULE(ExpandDims, fits_expand_dims)
      RULE(Flatten, fits_flatten) RULE(NumberOfElements, fits_number_of_elements)
      RULE(Pad, fits_pad) RULE(Reshape, fits_reshape) RULE(Split, fits_split)
      RULE(Squeeze, fits_squeeze) RULE(Transpose, fits_transpose)
      RULE(Unflatten, fits_unflatten) RULE(View, fits_view)
      RULE(Reduce, fits_reduce) RULE(Variance, fits_variance) RULE(ArgReduce, fits_arg_reduce) RULE(Scan, fits_scan)
      RULE(RoPE, fits_rope) RULE(Attention, fits_attention) RULE(Normalize, fits_normalize) RULE(NormalizeVJP, fits_normalize_vjp)
      RULE(Softmax, has_last_axis) RULE(LogSumExp, has_last_axis)
      RULE(Sort, fits_sort<Sort>) RULE(ArgSort, fits_sort<ArgSort>)
      RULE(Partition, fits_partition<Partition>) RULE(ArgPartition, fits_partition<ArgPartition>)
      RULE(FFT, fits_fft) RULE(RandomBits, fits_random_bits)
      RULE(Matmul, fits_matmul) RULE(AddMM, fits_addmm) RULE(GatherMM, fits_gather_mm)
      RULE(SegmentedMM, fits_segmented_mm) RULE(Convolution, fits_convolution)
      RULE(Solve, fits_solve) RULE(Cholesky, is_square_matrix)
      RULE(Determinant, is_square_matrix) RULE(Eigh, is_square_matrix)
      RULE(Eig, is_square_matrix) RULE(QRF, is_matrix) RULE(LUF, is_matrix) RULE(SVD, is_matrix)
      RULE(Quantize, fits_quantize) RULE(Dequantize, fits_dequantize)
      RULE(QuantizedMatmul, fits_quantized_matmul) RULE(GatherQMM, fits_gather_qmm)
      RULE(fast::CustomKernel, fits_custom_kernel)
      // clang-format on
  };
  return all;
}
#undef RULE

}  // namespace

bool fits(const Primitive& primitive, const std::vector<array>& inputs) {
  const auto rule = rules().find(typeid(primitive));
  return rule == rules().end() || rule->second(primitive, inputs);
}

}  // namespace mlx::core
