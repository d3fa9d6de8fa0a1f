// Quantised arrays: shapes, derivatives, vmap.
#include "mlx/primitives/quantized.h"

#include <algorithm>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/grouped_rules.h"
#include "mlx/primitives/rules.h"
#include "mlx/transforms.h"

namespace mlx::core {

namespace {

// A quantised matrix among the inputs of a primitive, which starts at input `first`.
struct Matrix {
  array w;
  array scales;
  std::optional<array> biases;

  Matrix(const std::vector<array>& inputs, size_t first, const Quantization& q)
      : w(inputs[first]), scales(inputs[first + 1]) {
    if (q.affine()) biases = inputs[first + 2];
  }

  // The elements without scales and biases.
  array integers(const Quantization& q, const Stream& s) const {
    return dequantize(w, ones_like(scales, s), zeros_like(*biases, s), q.group_size, q.bits,
                      q.mode_name(), std::nullopt, std::nullopt, s);
  }

  // The cotangent of scales or biases, given that of the dequantised matrix.
  array cotangent(bool of_scales, const array& c, const Quantization& q, const Stream& s) const {
    array weighted = of_scales ? multiply(c, integers(q, s), s) : c;
    array sums = sum(unflatten(weighted, -1, {-1, q.group_size}, s), -1, false, s);
    return astype(sums, scales.dtype(), s);
  }

  // Replaces scales and biases by their tangents: the result is the tangent of the matrix, which is
  // linear in both.
  void set_tangents(std::optional<array> of_scales, std::optional<array> of_biases,
                    const Stream& s) {
    scales = of_scales ? *of_scales : zeros_like(scales, s);
    biases = of_biases ? *of_biases : zeros_like(*biases, s);
  }
};

std::optional<array> tangent_of(int arg, const std::vector<array>& tangents,
                                const std::vector<int>& argnums) {
  const int at = position(argnums, arg);
  return at < 0 ? std::nullopt : std::optional(tangents[at]);
}

[[noreturn]] void no_derivative(const char* op, const char* of) {
  invalid_argument(op, message("There is no derivative with respect to ", of, "."));
}

// Throws unless the argument is x, or scales or biases in affine mode.
void check_argument(const char* op, int arg, const Quantization& q, bool is_index) {
  if (is_index) no_derivative(op, "indices");
  if (arg == 1) no_derivative(op, "the quantized matrix");
  if (arg > 1 && !q.affine()) no_derivative(op, "scales of a mode other than affine");
}

// Small changes of a matrix of affine mode change scales and biases; the packed elements count as
// constants, and have the derivative zero.
void check_dequantized(int arg, const Quantization& q) {
  if (arg > 0 || !q.affine()) check_argument("dequantize", arg + 1, q, false);
}

// The last length of a product.
int outer_extent(const array& w, const Quantization& q, bool transpose) {
  return transpose ? w.shape(-2) : static_cast<int>(q.numbers(w.shape(-1)));
}

}  // namespace

// ---- Quantize, Dequantize ----

std::vector<Shape> Quantize::output_shapes(const std::vector<array>& inputs) {
  Shape words = inputs[0].shape();
  Shape groups = words;
  groups.back() = words.back() / quantization_.group_size;
  words.back() = quantization_.words(words.back());
  if (!quantization_.affine()) return {words, groups};
  return {words, groups, groups};
}

namespace {

// Scales and biases of groups as differentiable functions of w, as the kernel computes them. The
// number of steps from zero to the exact end of the range counts as a constant.
std::vector<array> scales_and_biases(const array& w, const Quantization& q, const Stream& s) {
  const array groups = unflatten(astype(w, float32, s), -1, {-1, q.group_size}, s);
  const array low = min(groups, -1, false, s), high = max(groups, -1, false, s);
  const array levels(static_cast<float>((1 << q.bits) - 1));
  array scale = maximum(divide(subtract(high, low, s), levels, s), array(1e-7f), s);
  array bias = low;
  if (q.bits > 1) {
    const array from_low = greater(abs(low, s), abs(high, s), s);
    const array edge = where(from_low, low, high, s);
    scale = where(from_low, scale, negative(scale, s), s);
    const array steps = stop_gradient(round(divide(edge, scale, s), s), s);
    const array none = equal(steps, array(0.0f), s);
    scale = where(none, scale, divide(edge, where(none, array(1.0f), steps, s), s), s);
    bias = where(none, array(0.0f), edge, s);
  }
  return {astype(scale, w.dtype(), s), astype(bias, w.dtype(), s)};
}

// Throws unless w is differentiated, in affine mode.
void check_quantize(const std::vector<int>& argnums, const Quantization& q) {
  if (!q.affine()) no_derivative("quantize", "matrices in a mode other than affine");
  if (argnums != std::vector{0}) no_derivative("quantize", "the global scale");
}

}  // namespace

std::vector<array> Quantize::jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums) {
  check_quantize(argnums, quantization_);
  auto fun = [&](const std::vector<array>& in) {
    return scales_and_biases(in[0], quantization_, stream());
  };
  auto of_groups = mlx::core::jvp(fun, primals, tangents).second;
  return {zeros(output_shapes(primals)[0], uint32, stream()), of_groups[0], of_groups[1]};
}

std::vector<array> Quantize::vjp(const std::vector<array>& primals,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums, const std::vector<array>&) {
  check_quantize(argnums, quantization_);
  auto fun = [&](const std::vector<array>& in) {
    return scales_and_biases(in[0], quantization_, stream());
  };
  return mlx::core::vjp(fun, primals, {cotangents[1], cotangents[2]}).second;
}

VmapResult Quantize::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Quantization& q = quantization_;
  std::optional<array> global_scale;
  if (inputs.size() > 1) {
    if (axes[1] >= 0) invalid_argument("quantize", "global_scale cannot be mapped by vmap.");
    global_scale = inputs[1];
  }
  auto out = quantize(axis_in_front(inputs[0], axes[0], stream()), q.group_size, q.bits,
                      q.mode_name(), global_scale, stream());
  return {out, std::vector<int>(out.size(), 0)};
}

array Dequantize::apply(const std::vector<array>& inputs) const {
  const Quantization& q = quantization_;
  std::optional<array> biases, global_scale;
  if (inputs.size() > 2) (q.affine() ? biases : global_scale) = inputs[2];
  return dequantize(inputs[0], inputs[1], biases, q.group_size, q.bits, q.mode_name(), global_scale,
                    dtype_, stream());
}

std::vector<Shape> Dequantize::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  shape.back() = static_cast<int>(quantization_.numbers(shape.back()));
  return {shape};
}

std::vector<array> Dequantize::jvp(const std::vector<array>& primals,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums) {
  for (int arg : argnums) check_dequantized(arg, quantization_);
  Matrix matrix(primals, 0, quantization_);
  matrix.set_tangents(tangent_of(1, tangents, argnums), tangent_of(2, tangents, argnums), stream());
  return {apply({matrix.w, matrix.scales, *matrix.biases})};
}

std::vector<array> Dequantize::vjp(const std::vector<array>& primals,
                                   const std::vector<array>& cotangents,
                                   const std::vector<int>& argnums, const std::vector<array>&) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    check_dequantized(arg, quantization_);
    if (arg == 0) {
      vjps.push_back(zeros_like(primals[0], stream()));
      continue;
    }
    Matrix matrix(primals, 0, quantization_);
    vjps.push_back(matrix.cotangent(arg == 1, cotangents[0], quantization_, stream()));
  }
  return vjps;
}

VmapResult Dequantize::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const int n = mapped_length(inputs, axes);
  std::vector<array> mapped;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i == 2 && !quantization_.affine()) {
      if (axes[2] >= 0) invalid_argument("dequantize", "global_scale cannot be mapped by vmap.");
      mapped.push_back(inputs[2]);
    } else {
      mapped.push_back(axis_in_front_or_repeated(inputs[i], axes[i], n, stream()));
    }
  }
  return {{apply(mapped)}, {0}};
}

// ---- QuantizedMatmul ----

std::vector<Shape> QuantizedMatmul::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[0].shape();
  shape.back() = outer_extent(inputs[1], quantization_, transpose_);
  return {shape};
}

namespace {

array product(const array& x, const Matrix& m, const Quantization& q, bool transpose,
              const Stream& s) {
  return quantized_matmul(x, m.w, m.scales, m.biases, transpose, q.group_size, q.bits,
                          q.mode_name(), s);
}

}  // namespace

std::vector<array> QuantizedMatmul::jvp(const std::vector<array>& primals,
                                        const std::vector<array>& tangents,
                                        const std::vector<int>& argnums) {
  for (int arg : argnums) check_argument("quantized_matmul", arg, quantization_, false);
  Matrix matrix(primals, 1, quantization_);
  auto of_x = tangent_of(0, tangents, argnums);
  auto of_scales = tangent_of(2, tangents, argnums);
  auto of_biases = tangent_of(3, tangents, argnums);
  std::optional<array> tangent;
  if (of_x)
    accumulate(tangent, product(*of_x, matrix, quantization_, transpose_, stream()), stream());
  if (of_scales || of_biases) {
    matrix.set_tangents(of_scales, of_biases, stream());
    accumulate(tangent, product(primals[0], matrix, quantization_, transpose_, stream()), stream());
  }
  return {*tangent};
}

std::vector<array> QuantizedMatmul::vjp(const std::vector<array>& primals,
                                        const std::vector<array>& cotangents,
                                        const std::vector<int>& argnums,
                                        const std::vector<array>&) {
  const array& x = primals[0];
  const array& c = cotangents[0];
  Matrix matrix(primals, 1, quantization_);
  std::vector<array> vjps;
  for (int arg : argnums) {
    check_argument("quantized_matmul", arg, quantization_, false);
    if (arg == 0) {
      vjps.push_back(product(c, matrix, quantization_, !transpose_, stream()));
      continue;
    }
    array of_matrix = transpose_ ? matmul(swapaxes(c, -1, -2, stream()), x, stream())
                                 : matmul(swapaxes(x, -1, -2, stream()), c, stream());
    vjps.push_back(matrix.cotangent(arg == 2, of_matrix, quantization_, stream()));
  }
  return vjps;
}

VmapResult QuantizedMatmul::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front_or_new(inputs[0], axes[0], stream());
  std::vector<array> matrix(inputs.begin() + 1, inputs.end());
  const std::vector<int> matrix_axes(axes.begin() + 1, axes.end());
  if (std::any_of(matrix_axes.begin(), matrix_axes.end(), [](int axis) { return axis >= 0; })) {
    const int n = mapped_length(inputs, axes);
    for (size_t i = 0; i < matrix.size(); ++i) {
      matrix[i] = axis_in_front_or_repeated(matrix[i], matrix_axes[i], n, stream());
    }
  }
  return {{product(x, Matrix(matrix, 0, quantization_), quantization_, transpose_, stream())}, {0}};
}

// ---- GatherQMM ----

std::vector<Shape> GatherQMM::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs.back().shape();
  shape.push_back(inputs[0].shape(-2));
  shape.push_back(outer_extent(inputs[1], quantization_, transpose_));
  return {shape};
}

namespace {

array gathered(const array& x, const Matrix& m, const array& lhs, const array& rhs,
               const Quantization& q, bool transpose, const Stream& s) {
  return gather_qmm(x, m.w, m.scales, m.biases, lhs, rhs, transpose, q.group_size, q.bits,
                    q.mode_name(), std::nullopt, false, s);
}

}  // namespace

std::vector<array> GatherQMM::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents,
                                  const std::vector<int>& argnums) {
  const int last = static_cast<int>(primals.size()) - 1;
  for (int arg : argnums) check_argument("gather_qmm", arg, quantization_, arg >= last - 1);
  const array &lhs = primals[last - 1], &rhs = primals[last];
  Matrix matrix(primals, 1, quantization_);
  auto of_x = tangent_of(0, tangents, argnums);
  auto of_scales = tangent_of(2, tangents, argnums);
  auto of_biases = tangent_of(3, tangents, argnums);
  std::optional<array> tangent;
  if (of_x) {
    accumulate(tangent, gathered(*of_x, matrix, lhs, rhs, quantization_, transpose_, stream()),
               stream());
  }
  if (of_scales || of_biases) {
    matrix.set_tangents(of_scales, of_biases, stream());
    accumulate(tangent, gathered(primals[0], matrix, lhs, rhs, quantization_, transpose_, stream()),
               stream());
  }
  return {*tangent};
}

std::vector<array> GatherQMM::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<array>&) {
  const int last = static_cast<int>(primals.size()) - 1;
  const array& x = primals[0];
  Matrix matrix(primals, 1, quantization_);
  Pairs pairs(primals[last - 1], primals[last], x.shape(0), matrix.w.shape(0), stream());
  array c = pairs.in_a_line(cotangents[0]);
  std::vector<array> vjps;
  for (int arg : argnums) {
    check_argument("gather_qmm", arg, quantization_, arg >= last - 1);
    if (arg == 0) {
      array parts =
          gathered(c, matrix, pairs.own(), pairs.right, quantization_, !transpose_, stream());
      vjps.push_back(pairs.sum_for_left(parts));
      continue;
    }
    array taken = pairs.take_left(x);
    array of_matrix =
        transpose_ ? pairs.products_for_right(c, taken) : pairs.products_for_right(taken, c);
    vjps.push_back(matrix.cotangent(arg == 2, of_matrix, quantization_, stream()));
  }
  return vjps;
}

VmapResult GatherQMM::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const size_t last = inputs.size() - 1;
  const int n = mapped_length(inputs, axes);
  bool matrix_mapped = false;
  for (size_t i = 1; i < last - 1; ++i) matrix_mapped = matrix_mapped || axes[i] >= 0;
  std::vector<array> mapped;
  for (size_t i = 0; i < last - 1; ++i) {
    const bool repeat = i > 0 && matrix_mapped;
    mapped.push_back(repeat ? axis_in_front_or_repeated(inputs[i], axes[i], n, stream())
                            : axis_in_front(inputs[i], axes[i], stream()));
  }
  array lhs =
      mapped_indices(inputs[last - 1], axes[last - 1], mapped[0], axes[0] >= 0, n, stream());
  array rhs = mapped_indices(inputs[last], axes[last], mapped[1], matrix_mapped, n, stream());
  return {{gathered(mapped[0], Matrix(mapped, 1, quantization_), lhs, rhs, quantization_,
                    transpose_, stream())},
          {0}};
}

// ---- ConvertFP8 ----

VmapResult ConvertFP8::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{to_fp8_ ? to_fp8(inputs[0], stream()) : from_fp8(inputs[0], dtype_, stream())}, axes};
}

}  // namespace mlx::core
