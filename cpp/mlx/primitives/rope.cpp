// Derivatives and vmap of the rotary position encoding.
#include "mlx/primitives/rope.h"

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

// The angle for each position and pair, with axes of length 1 so that it broadcasts against x.
array angles(const array& x, float scale, const array& offset, const array& speeds,
             const Stream& s) {
  array positions = astype(arange(x.shape(-2), s), float32, s);
  if (offset.size() == 1) {
    positions = add(positions, astype(reshape(offset, {}, s), float32, s), s);
  } else {
    Shape shape(x.ndim() - 1, 1);
    shape[0] = x.shape(0);
    positions = add(positions, astype(reshape(offset, shape, s), float32, s), s);
  }
  return multiply(multiply(expand_dims(positions, -1, s), array(scale), s), speeds, s);
}

array part_of_last(const array& x, int start, int stop, int step, const Stream& s) {
  Shape starts(x.ndim(), 0), stops = x.shape(), steps(x.ndim(), 1);
  starts.back() = start;
  stops.back() = stop;
  steps.back() = step;
  return slice(x, starts, stops, steps, s);
}

}  // namespace

array Rotation::compute(const std::vector<array>& inputs, const Stream& s) const {
  const array& x = inputs[0];
  const int half = dims / 2;
  const array speeds =
      inputs.size() == 3
          ? inputs[2]
          : exp(multiply(astype(arange(half, s), float32, s), array(exponent), s), s);
  const array angle = angles(x, scale, inputs[1], speeds, s);
  const array cosine = cos(angle, s);
  const array sine = backwards ? negative(sin(angle, s), s) : sin(angle, s);
  auto wide = [&](int start, int stop, int step) {
    return astype(part_of_last(x, start, stop, step, s), float32, s);
  };
  const array first = traditional ? wide(0, dims, 2) : wide(0, half, 1);
  const array second = traditional ? wide(1, dims, 2) : wide(half, dims, 1);
  const array turned_first = subtract(multiply(first, cosine, s), multiply(second, sine, s), s);
  const array turned_second = add(multiply(first, sine, s), multiply(second, cosine, s), s);
  array rotated = traditional ? flatten(stack({turned_first, turned_second}, -1, s), -2, -1, s)
                              : concatenate({turned_first, turned_second}, -1, s);
  rotated = astype(rotated, x.dtype(), s);
  if (dims == x.shape(-1)) return rotated;
  return concatenate({rotated, part_of_last(x, dims, x.shape(-1), 1, s)}, -1, s);
}

std::vector<array> RoPE::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                             const std::vector<int>& argnums) {
  return jvp_as([this](const std::vector<array>& in) { return compute(in); }, primals, tangents,
                argnums);
}

// The transpose of a rotation is the rotation backwards.
std::vector<array> RoPE::vjp(const std::vector<array>& primals,
                             const std::vector<array>& cotangents, const std::vector<int>& argnums,
                             const std::vector<array>&) {
  if (argnums != std::vector{0}) {
    auto fun = [this](const std::vector<array>& in) { return compute(in); };
    return detail::vjp(fun, primals, cotangents, argnums).second;
  }
  const Rotation& r = rotation_;
  std::vector<array> inputs = primals;
  inputs[0] = cotangents[0];
  return {array(
      inputs[0].shape(), inputs[0].dtype(),
      std::make_shared<RoPE>(stream(), r.dims, r.traditional, !r.backwards, r.scale, r.exponent),
      inputs)};
}

VmapResult RoPE::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return vmap_as([this](const std::vector<array>& in) { return compute(in); }, inputs, axes);
}

}  // namespace mlx::core
