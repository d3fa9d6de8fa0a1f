// Matrix products: shapes, derivatives, vmap.
#include "mlx/primitives/linear.h"

#include <algorithm>

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

Shape product_shape(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  shape.back() = inputs[1].shape(-1);
  return shape;
}

array scaled(const array& x, float factor, const Stream& s) {
  return factor == 1.0f ? x : multiply(array(factor, x.dtype()), x, s);
}

// The cotangent of factor `arg` (0 or 1) of a product a @ b.
array factor_cotangent(int arg, const array& a, const array& b, const array& c, const Stream& s) {
  return arg == 0 ? matmul(c, adjoint(b, s), s) : matmul(adjoint(a, s), c, s);
}

}  // namespace

std::vector<Shape> Matmul::output_shapes(const std::vector<array>& inputs) {
  return {product_shape(inputs)};
}

std::vector<array> Matmul::jvp(const std::vector<array>& primals,
                               const std::vector<array>& tangents,
                               const std::vector<int>& argnums) {
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    accumulate(tangent,
               argnums[i] == 0 ? matmul(tangents[i], primals[1], stream())
                               : matmul(primals[0], tangents[i], stream()),
               stream());
  }
  return {*tangent};
}

std::vector<array> Matmul::vjp(const std::vector<array>& primals,
                               const std::vector<array>& cotangents,
                               const std::vector<int>& argnums, const std::vector<array>&) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    vjps.push_back(factor_cotangent(arg, primals[0], primals[1], cotangents[0], stream()));
  }
  return vjps;
}

VmapResult Matmul::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front_or_new(inputs[0], axes[0], stream());
  array b = axis_in_front_or_new(inputs[1], axes[1], stream());
  return {{matmul(a, b, stream())}, {0}};
}

// ---- AddMM ----

std::vector<Shape> AddMM::output_shapes(const std::vector<array>& inputs) {
  return {product_shape(inputs)};
}

std::vector<array> AddMM::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                              const std::vector<int>& argnums) {
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 2) {
      accumulate(tangent, scaled(tangents[i], beta_, stream()), stream());
    } else {
      array term = argnums[i] == 0 ? matmul(tangents[i], primals[1], stream())
                                   : matmul(primals[0], tangents[i], stream());
      accumulate(tangent, scaled(term, alpha_, stream()), stream());
    }
  }
  return {*tangent};
}

std::vector<array> AddMM::vjp(const std::vector<array>& primals,
                              const std::vector<array>& cotangents, const std::vector<int>& argnums,
                              const std::vector<array>&) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    vjps.push_back(
        arg == 2 ? scaled(cotangents[0], beta_, stream())
                 : scaled(factor_cotangent(arg, primals[0], primals[1], cotangents[0], stream()),
                          alpha_, stream()));
  }
  return vjps;
}

VmapResult AddMM::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array a = axis_in_front_or_new(inputs[0], axes[0], stream());
  array b = axis_in_front_or_new(inputs[1], axes[1], stream());
  array c = axis_in_front_or_new(inputs[2], axes[2], stream());
  int n = mapped_length(inputs, axes);
  if (axes[0] < 0 && axes[1] < 0) {
    a = broadcast_to(a, prepended(n, inputs[0].shape()), stream());
  }
  return {{addmm(c, a, b, alpha_, beta_, stream())}, {0}};
}

}  // namespace mlx::core
