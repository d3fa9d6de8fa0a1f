// Convolutions: checks of arguments, and the choice of the primitive.
#include "mlx/ops/convolution.h"

#include <algorithm>
#include <limits>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/convolution.h"

namespace mlx::core {

namespace {

using Ints = std::vector<int>;

// The checked arguments of a convolution, with a number for each spatial axis.
struct Setting {
  const char* op;
  size_t spatial;
  Ints stride, low, high, dilation, input_dilation;
  int groups;
  bool flip;

  // The extent of a dilated kernel on the input.
  int64_t reach(const array& weight, size_t i) const {
    return (int64_t{weight.shape(static_cast<int>(i) + 1)} - 1) * dilation[i] + 1;
  }
};

// One number for each spatial axis.
Ints for_each_axis(const char* op, const char* argument, const Ints& given, size_t spatial,
                   int otherwise, int least) {
  Ints out = given;
  if (out.size() <= 1) out.assign(spatial, given.empty() ? otherwise : given[0]);
  if (out.size() != spatial) {
    invalid_argument(op, message(argument, " must have 1 or ", spatial, " elements, not ",
                                 given.size(), ", for ", spatial, " spatial axes."));
  }
  for (int value : out) {
    if (value < least)
      invalid_argument(op, message(argument, " must be at least ", least, ", but is ", value, "."));
  }
  return out;
}

void check_arrays(const Setting& to, const array& input, const array& weight) {
  const size_t needed = to.spatial + 2;
  if (input.ndim() != needed || weight.ndim() != needed) {
    invalid_argument(to.op, message("The input (N, spatial..., C) and the weight (O, spatial..., "
                                    "C / groups) must have ",
                                    needed, " dimensions, but have shapes ", input.shape(), " and ",
                                    weight.shape(), "."));
  }
  if (!issubdtype(result_type(input, weight), floating)) {
    invalid_argument(to.op, message("Only floating point types are supported, but ", input.dtype(),
                                    " and ", weight.dtype(), " were given."));
  }
  if (to.groups < 1)
    invalid_argument(to.op, message("groups must be at least 1, but is ", to.groups, "."));
  if (int64_t{weight.shape(-1)} * to.groups != input.shape(-1)) {
    invalid_argument(to.op, message("The input has ", input.shape(-1), " channels, the weight ",
                                    weight.shape(-1), " in each of ", to.groups, " groups: shapes ",
                                    input.shape(), " and ", weight.shape(), " do not match."));
  }
  if (weight.shape(0) % to.groups != 0) {
    invalid_argument(to.op, message(weight.shape(0), " output channels cannot be divided among ",
                                    to.groups, " groups."));
  }
}

// The shape of the output.
Shape check_extents(const Setting& to, const array& input, const array& weight) {
  Shape shape{input.shape(0)};
  for (size_t i = 0; i < to.spatial; ++i) {
    const auto axis = static_cast<int>(i) + 1;
    if (weight.shape(axis) == 0)
      invalid_argument(to.op, message("The kernel has no elements: the weight has the shape ",
                                      weight.shape(), "."));
    const int64_t present =
        std::max<int64_t>(0, (int64_t{input.shape(axis)} - 1) * to.input_dilation[i] + 1);
    if (-int64_t{to.low[i]} > present || -int64_t{to.high[i]} > present) {
      invalid_argument(to.op,
                       message("Padding of (", to.low[i], ",", to.high[i], ") drops more than the ",
                               present, " elements of spatial axis ", i, "."));
    }
    const int64_t padded = checked_extent(present + to.low[i] + to.high[i], to.op);
    const int64_t reach = checked_extent(to.reach(weight, i), to.op);
    if (padded < reach) {
      invalid_argument(to.op, message("The kernel spans ", reach, " elements along spatial axis ",
                                      i, ", but the padded input has ", padded, ": shapes ",
                                      input.shape(), " and ", weight.shape(), "."));
    }
    shape.push_back(static_cast<ShapeElem>((padded - reach) / to.stride[i] + 1));
  }
  shape.push_back(weight.shape(0));
  return shape;
}

Ints spatial_axes(size_t spatial) {
  Ints axes;
  for (size_t i = 0; i < spatial; ++i) axes.push_back(static_cast<int>(i) + 1);
  return axes;
}

bool all_one(const Ints& values) {
  return std::all_of(values.begin(), values.end(), [](int value) { return value == 1; });
}

Ints negated_below_zero(const Ints& values) {
  Ints out;
  for (int value : values) out.push_back(std::max(0, -value));
  return out;
}

// Drops so many elements at the ends of the spatial axes.
array without_ends(const array& a, const Ints& low, const Ints& high, const Stream& s) {
  Shape start(a.ndim(), 0), stop = a.shape();
  for (size_t i = 0; i < low.size(); ++i) {
    start[i + 1] = low[i];
    stop[i + 1] -= high[i];
  }
  return slice(a, start, stop, s);
}

// Inserts zeros between the elements of the spatial axes.
array spread_out(array a, const Ints& dilation, const Stream& s) {
  for (size_t i = 0; i < dilation.size(); ++i) {
    if (dilation[i] == 1) continue;
    const int axis = static_cast<int>(i) + 1;
    array gaps = pad(expand_dims(a, axis + 1, s), {axis + 1}, {0}, {dilation[i] - 1}, scalar(0, a),
                     "constant", s);
    Shape stop = a.shape();
    stop[axis] = (a.shape(axis) - 1) * dilation[i] + 1;
    a = slice(flatten(gaps, axis, axis + 1, s), Shape(a.ndim(), 0), stop, s);
  }
  return a;
}

array forward(const Setting& to, const array& input, const array& weight, const Stream& s) {
  const array cropped =
      without_ends(input, negated_below_zero(to.low), negated_below_zero(to.high), s);
  ConvolutionWindow window{to.stride, to.low, to.high, to.dilation, to.groups};
  for (auto* ends : {&window.low, &window.high})
    for (int& end : *ends) end = std::max(0, end);
  const array kernel = to.flip ? flip(weight, spatial_axes(to.spatial), s) : weight;
  return Convolution::make(ConvolutionPart::Output, cropped, kernel, window, s);
}

// Exchanges the input and output channels of each group: (C, spatial..., O / groups).
array sides_swapped(const array& weight, int groups, const Stream& s) {
  array parts = unflatten(weight, 0, {groups, weight.shape(0) / groups}, s);
  return flatten(swapaxes(parts, 1, -1, s), 0, 1, s);
}

// For a dilated input without strides. It is the input's cotangent of the convolution whose strides
// are these dilations. If even that has no element, the result is zero.
array backward(const Setting& to, const array& input, const array& weight, const Shape& shape,
               const Stream& s) {
  ConvolutionWindow window{to.input_dilation, {}, {}, to.dilation, to.groups};
  Shape below, above;
  for (size_t i = 0; i < to.spatial; ++i) {
    const int last = static_cast<int>(to.reach(weight, i)) - 1;
    below.push_back(std::max(0, to.low[i] - last));
    above.push_back(std::max(0, to.high[i] - last - (to.input_dilation[i] - 1)));
    window.low.push_back(last - to.low[i] + below[i]);
    window.high.push_back(last - to.high[i] + above[i]);
    if (shape[i + 1] - below[i] - above[i] <= 0) return zeros(shape, input.dtype(), s);
  }
  const auto axes = spatial_axes(to.spatial);
  array kernel = sides_swapped(to.flip ? weight : flip(weight, axes, s), to.groups, s);
  array inner = Convolution::make(ConvolutionPart::Input, kernel, input, window, s);
  const bool whole = inner.shape() == shape;
  return whole ? inner : pad(inner, axes, below, above, scalar(0, inner), "constant", s);
}

size_t spatial_axes_of(const char* op, int given, const array& input) {
  const int spatial = given > 0 ? given : rank(input) - 2;
  if (spatial < 1 || spatial > 3) {
    invalid_argument(op, message("1 to 3 spatial axes are supported: the input (N, spatial..., C) "
                                 "must have 3 to 5 dimensions, but has the shape ",
                                 input.shape(), "."));
  }
  return static_cast<size_t>(spatial);
}

}  // namespace

namespace detail {

array convolution(const char* op, int spatial, const array& input, const array& weight,
                  const Ints& stride, const Ints& padding_lo, const Ints& padding_hi,
                  const Ints& kernel_dilation, const Ints& input_dilation, int groups, bool flip,
                  StreamOrDevice to) {
  constexpr int kAny = std::numeric_limits<int>::min();
  const size_t axes = spatial_axes_of(op, spatial, input);
  const Setting setting{op,
                        axes,
                        for_each_axis(op, "stride", stride, axes, 1, 1),
                        for_each_axis(op, "padding", padding_lo, axes, 0, kAny),
                        for_each_axis(op, "padding", padding_hi, axes, 0, kAny),
                        for_each_axis(op, "kernel_dilation", kernel_dilation, axes, 1, 1),
                        for_each_axis(op, "input_dilation", input_dilation, axes, 1, 1),
                        groups,
                        flip};
  check_arrays(setting, input, weight);
  Shape shape = check_extents(setting, input, weight);

  const Stream s = to_stream(to);
  const Dtype dtype = result_type(input, weight);
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (empty || input.size() == 0 || weight.size() == 0) return zeros(shape, dtype, s);
  const array x = astype(input, dtype, s), w = astype(weight, dtype, s);
  if (all_one(setting.input_dilation)) return forward(setting, x, w, s);
  if (all_one(setting.stride)) return backward(setting, x, w, shape, s);
  return forward(setting, spread_out(x, setting.input_dilation, s), w, s);
}

array transposed_convolution(const char* op, int spatial, const array& input, const array& weight,
                             const Ints& stride, const Ints& padding, const Ints& dilation,
                             const Ints& output_padding, int groups, StreamOrDevice s) {
  const size_t axes = spatial_axes_of(op, spatial, input);
  const auto apart = for_each_axis(op, "dilation", dilation, axes, 1, 1);
  const auto dropped = for_each_axis(op, "padding", padding, axes, 0, 0);
  const auto added = for_each_axis(op, "output_padding", output_padding, axes, 0, 0);
  Ints low, high;
  for (size_t i = 0; i < axes && weight.ndim() == axes + 2; ++i) {
    const int64_t end =
        (int64_t{weight.shape(static_cast<int>(i) + 1)} - 1) * apart[i] - dropped[i];
    low.push_back(checked_extent(end, op));
    high.push_back(checked_extent(end + added[i], op));
  }
  return convolution(op, spatial, input, weight, {}, low, high, apart,
                     for_each_axis(op, "stride", stride, axes, 1, 1), groups, true, s);
}

}  // namespace detail

array conv_general(const array& input, const array& weight, const Ints& stride,
                   const Ints& padding_lo, const Ints& padding_hi, const Ints& kernel_dilation,
                   const Ints& input_dilation, int groups, bool flip, StreamOrDevice s) {
  return detail::convolution("conv_general", 0, input, weight, stride, padding_lo, padding_hi,
                             kernel_dilation, input_dilation, groups, flip, s);
}

namespace {

Ints list(const IntPair& values) { return {values.first, values.second}; }

Ints list(const IntTriple& values) {
  return {std::get<0>(values), std::get<1>(values), std::get<2>(values)};
}

}  // namespace

array conv1d(const array& input, const array& weight, int stride, int padding, int dilation,
             int groups, StreamOrDevice s) {
  return detail::convolution("conv1d", 1, input, weight, {stride}, {padding}, {padding}, {dilation},
                             {}, groups, false, s);
}

array conv2d(const array& input, const array& weight, const IntPair& stride, const IntPair& padding,
             const IntPair& dilation, int groups, StreamOrDevice s) {
  return detail::convolution("conv2d", 2, input, weight, list(stride), list(padding), list(padding),
                             list(dilation), {}, groups, false, s);
}

array conv3d(const array& input, const array& weight, const IntTriple& stride,
             const IntTriple& padding, const IntTriple& dilation, int groups, StreamOrDevice s) {
  return detail::convolution("conv3d", 3, input, weight, list(stride), list(padding), list(padding),
                             list(dilation), {}, groups, false, s);
}

array conv_transpose1d(const array& input, const array& weight, int stride, int padding,
                       int dilation, int output_padding, int groups, StreamOrDevice s) {
  return detail::transposed_convolution("conv_transpose1d", 1, input, weight, {stride}, {padding},
                                        {dilation}, {output_padding}, groups, s);
}

array conv_transpose2d(const array& input, const array& weight, const IntPair& stride,
                       const IntPair& padding, const IntPair& dilation,
                       const IntPair& output_padding, int groups, StreamOrDevice s) {
  return detail::transposed_convolution("conv_transpose2d", 2, input, weight, list(stride),
                                        list(padding), list(dilation), list(output_padding), groups,
                                        s);
}

array conv_transpose3d(const array& input, const array& weight, const IntTriple& stride,
                       const IntTriple& padding, const IntTriple& dilation,
                       const IntTriple& output_padding, int groups, StreamOrDevice s) {
  return detail::transposed_convolution("conv_transpose3d", 3, input, weight, list(stride),
                                        list(padding), list(dilation), list(output_padding), groups,
                                        s);
}

array convolve(const array& a, const array& v, const std::string& mode, StreamOrDevice to) {
  if (a.ndim() != 1 || v.ndim() != 1) {
    invalid_argument("convolve", message("Both arrays must have 1 dimension, but have shapes ",
                                         a.shape(), " and ", v.shape(), "."));
  }
  if (a.size() == 0 || v.size() == 0)
    invalid_argument("convolve", "The arrays must have at least 1 element.");
  const Stream s = to_stream(to);
  const auto& [input, kernel] = a.size() < v.size() ? std::tie(v, a) : std::tie(a, v);
  const int last = kernel.shape(0) - 1;
  int low = 0, high = 0;
  if (mode == "full") {
    low = high = last;
  } else if (mode == "same") {
    high = last / 2;
    low = last - high;
  } else if (mode != "valid") {
    invalid_argument("convolve",
                     "mode must be \"full\", \"same\" or \"valid\", not \"" + mode + "\".");
  }
  return flatten(
      detail::convolution("convolve", 1, reshape(input, {1, -1, 1}, s),
                          reshape(kernel, {1, -1, 1}, s), {}, {low}, {high}, {}, {}, 1, true, s),
      s);
}

}  // namespace mlx::core
