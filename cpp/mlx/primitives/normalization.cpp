// Derivatives and vmap of normalisation.
#include "mlx/primitives/normalization.h"

#include <algorithm>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"
#include "mlx/transforms.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

// The number of partial sums of a weight's cotangent.
constexpr int kLines = 64;

int number_of_rows(const array& x) {
  return x.shape(-1) == 0 ? 0 : static_cast<int>(x.size() / x.shape(-1));
}

// All axes but the last.
std::vector<int> axes_of_rows(const array& x) {
  std::vector<int> axes = all_axes(x);
  axes.pop_back();
  return axes;
}

}  // namespace

array Normalization::compute(const array& x, const array& weight, const array& bias,
                             const Stream& s) const {
  array wide = astype(x, x.dtype() == float64 ? float64 : float32, s);
  if (centered) wide = subtract(wide, mean(wide, -1, true, s), s);
  array size = add(mean(square(wide, s), -1, true, s), scalar(eps, wide), s);
  array out = multiply(multiply(wide, rsqrt(size, s), s), weight, s);
  return astype(centered ? add(out, bias, s) : out, x.dtype(), s);
}

std::vector<array> Normalize::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents,
                                  const std::vector<int>& argnums) {
  auto fun = [this](const std::vector<array>& in) {
    return std::vector<array>{kind_.compute(in[0], in[1], in[2], stream())};
  };
  return jvp_as(fun, primals, tangents, argnums);
}

std::vector<array> Normalize::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<array>&) {
  const array& x = primals[0];
  const array& g = cotangents[0];
  auto primitive = std::make_shared<NormalizeVJP>(stream(), kind_.centered, kind_.eps);
  std::vector<array> inputs{x, primals[1], g};
  auto shapes = primitive->output_shapes(inputs);
  auto results = array::make_arrays(std::move(shapes), {x.dtype(), float32}, primitive, inputs);
  std::vector<array> out;
  for (int arg : argnums) {
    if (arg == 0) {
      out.push_back(results[0]);
    } else if (arg == 1) {
      out.push_back(sum(results[1], 0, false, stream()));
    } else if (kind_.centered) {
      out.push_back(sum(astype(g, float32, stream()), axes_of_rows(g), false, stream()));
    } else {
      out.push_back(zeros_like(primals[2], stream()));
    }
  }
  return out;
}

VmapResult Normalize::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  if (axes[1] < 0 && axes[2] < 0) {
    array x = axis_in_front(inputs[0], axes[0], stream());
    return {{array(x.shape(), x.dtype(),
                   std::make_shared<Normalize>(stream(), kind_.centered, kind_.eps),
                   {x, inputs[1], inputs[2]})},
            {0}};
  }
  auto fun = [this](const std::vector<array>& in) {
    return std::vector<array>{kind_.compute(in[0], in[1], in[2], stream())};
  };
  return vmap_as(fun, inputs, axes);
}

std::vector<Shape> NormalizeVJP::output_shapes(const std::vector<array>& inputs) {
  return {inputs[0].shape(), {std::min(number_of_rows(inputs[0]), kLines), inputs[0].shape(-1)}};
}

// Computes the outputs from other operations; the first line has the whole sum.
std::vector<array> NormalizeVJP::compute(const std::vector<array>& inputs) const {
  auto fun = [this](const std::vector<array>& in) {
    return std::vector<array>{kind_.compute(in[0], in[1], zeros_like(in[1], stream()), stream())};
  };
  auto cotangents = mlx::core::vjp(fun, {inputs[0], inputs[1]}, {inputs[2]}).second;
  const int lines = std::min(number_of_rows(inputs[0]), kLines);
  array line = expand_dims(cotangents[1], 0, stream());
  array rest = zeros({std::max(lines - 1, 0), inputs[1].shape(0)}, float32, stream());
  return {cotangents[0], lines > 0 ? concatenate({line, rest}, 0, stream()) : rest};
}

std::vector<array> NormalizeVJP::jvp(const std::vector<array>& primals,
                                     const std::vector<array>& tangents,
                                     const std::vector<int>& argnums) {
  return jvp_as([this](const std::vector<array>& in) { return compute(in); }, primals, tangents,
                argnums);
}

std::vector<array> NormalizeVJP::vjp(const std::vector<array>& primals,
                                     const std::vector<array>& cotangents,
                                     const std::vector<int>& argnums, const std::vector<array>&) {
  auto fun = [this](const std::vector<array>& in) { return compute(in); };
  return detail::vjp(fun, primals, cotangents, argnums).second;
}

VmapResult NormalizeVJP::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return vmap_as([this](const std::vector<array>& in) { return compute(in); }, inputs, axes);
}

}  // namespace mlx::core
