// Primitives that make arrays: shapes and vmap.
#include "mlx/primitives/creation.h"

#include <algorithm>
#include <cmath>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

std::vector<Shape> Arange::output_shapes(const std::vector<array>&) {
  return {Shape{static_cast<ShapeElem>(std::max(std::ceil((stop_ - start_) / step_), 0.0))}};
}

std::vector<array> Full::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                             const std::vector<int>&) {
  return {tangents[0]};
}

std::vector<array> Full::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                             const std::vector<int>&, const std::vector<array>&) {
  return {cotangents[0]};
}

VmapResult Full::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{full(inputs[0].shape(), inputs[0], stream())}, {axes[0]}};
}

std::vector<Shape> RandomBits::output_shapes(const std::vector<array>& inputs) {
  const Shape& keys = inputs[0].shape();
  Shape shape(keys.begin(), keys.end() - 1);
  shape.insert(shape.end(), shape_.begin(), shape_.end());
  return {shape};
}

VmapResult RandomBits::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  // A mapped axis of the keys is just one more axis.
  array keys = axis_in_front(inputs[0], axes[0], stream());
  Dtype dtype = width_ == 1 ? uint8 : width_ == 2 ? uint16 : uint32;
  return {{array(output_shapes({keys})[0], dtype,
                 std::make_shared<RandomBits>(stream(), shape_, width_), {keys})},
          {0}};
}

}  // namespace mlx::core
