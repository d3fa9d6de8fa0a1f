// Convolutions: shapes, derivatives, vmap.
#include "mlx/primitives/convolution.h"

#include <array>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

using Part = ConvolutionPart;

// The other two parts, in order.
std::array<Part, 2> others(Part part) {
  switch (part) {
    case Part::Input:
      return {Part::Weight, Part::Output};
    case Part::Weight:
      return {Part::Input, Part::Output};
    case Part::Output:
      break;
  }
  return {Part::Input, Part::Weight};
}

Shape output_shape(const Shape& input, const Shape& weight, const ConvolutionWindow& window) {
  Shape shape{input.front()};
  for (size_t i = 0; i < window.stride.size(); ++i) {
    const int reach = (weight[i + 1] - 1) * window.dilation[i] + 1;
    const int padded = window.low[i] + input[i + 1] + window.high[i];
    shape.push_back((padded - reach) / window.stride[i] + 1);
  }
  shape.push_back(weight.front());
  return shape;
}

Shape input_shape(const Shape& weight, const Shape& output, const ConvolutionWindow& window) {
  Shape shape{output.front()};
  for (size_t i = 0; i < window.stride.size(); ++i) {
    const int reach = (weight[i + 1] - 1) * window.dilation[i] + 1;
    shape.push_back((output[i + 1] - 1) * window.stride[i] + reach - window.low[i] -
                    window.high[i]);
  }
  shape.push_back(weight.back() * window.groups);
  return shape;
}

Shape weight_shape(const Shape& input, const Shape& output, const ConvolutionWindow& window) {
  Shape shape{output.back()};
  for (size_t i = 0; i < window.stride.size(); ++i) {
    const int padded = window.low[i] + input[i + 1] + window.high[i];
    const int start = (output[i + 1] - 1) * window.stride[i];
    shape.push_back((padded - start - 1) / window.dilation[i] + 1);
  }
  shape.push_back(input.back() / window.groups);
  return shape;
}

Shape part_shape(Part part, const Shape& first, const Shape& second,
                 const ConvolutionWindow& window) {
  switch (part) {
    case Part::Input:
      return input_shape(first, second, window);
    case Part::Weight:
      return weight_shape(first, second, window);
    case Part::Output:
      break;
  }
  return output_shape(first, second, window);
}

// The arrays of a convolution, indexed by part.
struct ConvolutionArrays {
  std::array<std::optional<array>, 3> values;

  std::optional<array>& operator[](Part part) { return values[static_cast<size_t>(part)]; }
  const array& operator[](Part part) const { return *values[static_cast<size_t>(part)]; }
};

ConvolutionArrays arrays_of(Part result, const std::vector<array>& inputs) {
  const auto roles = others(result);
  ConvolutionArrays arrays;
  arrays[roles[0]] = inputs[0];
  arrays[roles[1]] = inputs[1];
  return arrays;
}

// Drops the zeros at the end that no kernel reaches: then each length follows from the others.
ConvolutionWindow exact(ConvolutionWindow window, const ConvolutionArrays& arrays) {
  const auto& input = arrays[Part::Input].shape();
  const auto& weight = arrays[Part::Weight].shape();
  const auto& output = arrays[Part::Output].shape();
  for (size_t i = 0; i < window.stride.size(); ++i) {
    window.high[i] = (output[i + 1] - 1) * window.stride[i] +
                     (weight[i + 1] - 1) * window.dilation[i] + 1 - window.low[i] - input[i + 1];
  }
  return window;
}

// Where a mapped axis is inserted: between the `outer` and the other elements of an axis.
struct Place {
  int axis;
  int outer;
};

// From (count, shape...) to shape..., in which the axis of the place is `count` times as long.
array folded(const array& a, Place place, const Stream& s) {
  const int axis = place.axis < 0 ? place.axis + rank(a) - 1 : place.axis;
  array parts = unflatten(a, axis + 1, {place.outer, a.shape(axis + 1) / place.outer}, s);
  return flatten(moveaxis(parts, 0, axis + 1, s), axis, axis + 2, s);
}

// The inverse of folded().
array unfolded(const array& a, Place place, int count, const Stream& s) {
  const int axis = place.axis < 0 ? place.axis + rank(a) : place.axis;
  const int inner = a.shape(axis) / (count * place.outer);
  array parts = unflatten(a, axis, {place.outer, count, inner}, s);
  return flatten(moveaxis(parts, axis + 1, 0, s), axis + 1, axis + 2, s);
}

// The places for the mapped axes of all parts that have one, including the result. They become
// images, channels of one side, or groups.
std::array<Place, 3> places(bool input, bool weight, bool output, int groups) {
  if (!weight) return {Place{0, 1}, {}, {0, 1}};
  if (!input) return {Place{}, {0, groups}, {-1, groups}};
  if (!output) return {Place{-1, groups}, {-1, 1}, {}};
  return {Place{-1, 1}, {0, 1}, {-1, 1}};
}

}  // namespace

array Convolution::make(ConvolutionPart part, const array& first, const array& second,
                        const ConvolutionWindow& window, const Stream& s) {
  Shape shape = part_shape(part, first.shape(), second.shape(), window);
  if (first.size() == 0 || second.size() == 0) return zeros(shape, first.dtype(), s);
  return array(std::move(shape), first.dtype(), std::make_shared<Convolution>(s, part, window),
               {first, second});
}

std::vector<Shape> Convolution::output_shapes(const std::vector<array>& inputs) {
  return {part_shape(part_, inputs[0].shape(), inputs[1].shape(), window_)};
}

std::vector<array> Convolution::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    auto factors = primals;
    factors[argnums[i]] = tangents[i];
    accumulate(tangent, make(part_, factors[0], factors[1], window_, stream()), stream());
  }
  return {*tangent};
}

std::vector<array> Convolution::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums, const std::vector<array>&) {
  ConvolutionArrays arrays = arrays_of(part_, primals);
  arrays[part_] = cotangents[0];
  const auto window = exact(window_, arrays);
  std::vector<array> vjps;
  for (int arg : argnums) {
    const Part wanted = others(part_)[arg];
    const auto [first, second] = others(wanted);
    vjps.push_back(make(wanted, *arrays[first], *arrays[second], window, stream()));
  }
  return vjps;
}

VmapResult Convolution::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const int count = mapped_length(inputs, axes);
  const auto roles = others(part_);
  std::array<bool, 3> mapped{};
  mapped[static_cast<size_t>(part_)] = true;
  for (size_t i = 0; i < 2; ++i) mapped[static_cast<size_t>(roles[i])] = axes[i] >= 0;
  const auto to = places(mapped[0], mapped[1], mapped[2], window_.groups);

  std::vector<array> factors;
  for (size_t i = 0; i < 2; ++i) {
    array a = axis_in_front(inputs[i], axes[i], stream());
    factors.push_back(
        axes[i] < 0 || count == 0 ? a : folded(a, to[static_cast<size_t>(roles[i])], stream()));
  }
  if (count == 0) {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < 2; ++i) {
      const Shape& shape = factors[i].shape();
      shapes.emplace_back(shape.begin() + (axes[i] < 0 ? 0 : 1), shape.end());
    }
    Shape one = part_shape(part_, shapes[0], shapes[1], window_);
    return {{zeros(prepended(0, one), factors[0].dtype(), stream())}, {0}};
  }
  auto window = window_;
  if (mapped[0] && mapped[1] && mapped[2]) window.groups *= count;
  array result = make(part_, factors[0], factors[1], window, stream());
  return {{unfolded(result, to[static_cast<size_t>(part_)], count, stream())}, {0}};
}

}  // namespace mlx::core
