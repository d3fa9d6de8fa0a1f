// Products with quantised matrices.
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/ops/grouped_indices.h"
#include "mlx/ops/quantized_checks.h"
#include "mlx/primitives/quantized.h"
#include "mlx/transforms.h"

namespace mlx::core {

namespace {

// A left factor, and the inputs that describe a quantised right matrix, in the type of their
// product.
struct Factors {
  array x;
  std::vector<array> matrix;
  Dtype dtype;
};

Factors checked_factors(const char* op, const Quantization& q, const array& x, const array& w,
                        const array& scales, const std::optional<array>& biases, bool transpose,
                        const Stream& s) {
  check_quantized(op, q, w, scales, biases);
  // In affine mode, integers are converted to the type of the scales.
  const bool converted = q.affine() && (issubdtype(x.dtype(), integer) || x.dtype() == bool_);
  if (!converted) check_quantizable(op, "x", x.dtype());
  const int64_t inner = transpose ? q.numbers(w.shape(-1)) : w.shape(-2);
  if (x.ndim() == 0 || x.shape(-1) != inner) {
    const int64_t outer = transpose ? w.shape(-2) : q.numbers(w.shape(-1));
    invalid_argument(op, message("The last dimension of x with the shape ", x.shape(),
                                 " does not match the quantized matrix, which stands for (", outer,
                                 ",", inner, ") if it is transposed, else for the reverse; ",
                                 "transpose is ", transpose ? "true" : "false", "."));
  }
  const Dtype dtype = q.affine() ? result_type(x, scales, *biases) : x.dtype();
  std::vector<array> matrix{w, scales};
  if (q.affine()) {
    matrix = {w, astype(scales, dtype, s), astype(*biases, dtype, s)};
  }
  return {astype(x, dtype, s), matrix, dtype};
}

array gather_product(const Quantization& q, const Factors& f, const array& lhs, const array& rhs,
                     bool transpose, const Stream& s) {
  std::vector<array> inputs{flattened_batch(f.x, s)};
  for (const array& part : f.matrix) inputs.push_back(flattened_batch(part, s));
  inputs.insert(inputs.end(), {lhs, rhs});
  auto primitive = std::make_shared<GatherQMM>(s, q, transpose);
  Shape shape = primitive->output_shapes(inputs)[0];
  if (shape_of_nothing(shape) || inputs[0].size() == 0 || inputs[1].size() == 0) {
    return zeros(shape, f.dtype, s);
  }
  return array(shape, f.dtype, primitive, inputs);
}

// One quantised matrix for all matrices of x.
array single_product(const Quantization& q, const Factors& f, bool transpose, const Stream& s) {
  Shape shape = f.x.shape();
  const int inner = shape.back();
  std::vector<array> inputs{reshape(f.x, {inner == 0 ? 0 : -1, inner}, s)};
  inputs.insert(inputs.end(), f.matrix.begin(), f.matrix.end());
  auto primitive = std::make_shared<QuantizedMatmul>(s, q, transpose);
  Shape flat = primitive->output_shapes(inputs)[0];
  shape.back() = flat.back();
  if (shape_of_nothing(shape) || inner == 0) return zeros(shape, f.dtype, s);
  return reshape(array(flat, f.dtype, primitive, inputs), shape, s);
}

}  // namespace

array quantized_matmul(array x, array w, array scales, std::optional<array> biases, bool transpose,
                       std::optional<int> group_size, std::optional<int> bits,
                       const std::string& mode, StreamOrDevice s) {
  const char* op = "quantized_matmul";
  const Quantization q = quantization_of(op, mode, group_size, bits);
  const Stream stream = to_stream(s);
  Factors f = checked_factors(op, q, x, w, scales, biases, transpose, stream);
  if (w.ndim() == 2) return single_product(q, f, transpose, stream);
  const bool vector = x.ndim() == 1;
  if (vector) f.x = expand_dims(f.x, 0, stream);
  const Shape batch = broadcast_shapes(batch_of(f.x), batch_of(w));
  array lhs = broadcast_to(own_indices(batch_of(f.x), stream), batch, stream);
  array rhs = broadcast_to(own_indices(batch_of(w), stream), batch, stream);
  array out = gather_product(q, f, lhs, rhs, transpose, stream);
  return vector ? squeeze(out, -2, stream) : out;
}

namespace {

constexpr float kLargestNvfp4 = 448.0f * 6.0f;  // the largest scale times the largest element

// The factor that a global scale applies to products. The scale of an array of zeros is zero.
array global_factor(const array& global_scale, const Stream& s) {
  array factor = divide(astype(global_scale, float32, s), array(kLargestNvfp4), s);
  return where(greater(factor, array(0.0f), s), factor, array(1.0f), s);
}

// There must be one for each matrix of w.
void check_global_scales(const std::string& op, const Quantization& q, const array& scales,
                         const Shape& batch) {
  if (q.mode != Quantization::Nvfp4) {
    invalid_argument(op,
                     message("global_scale is for the mode nvfp4 only, not ", q.mode_name(), "."));
  }
  if (scales.shape() != batch || !issubdtype(scales.dtype(), floating)) {
    invalid_argument(op, message("global_scale must have a floating number for each matrix of w, "
                                 "the shape ",
                                 batch, ", but has the shape ", scales.shape(), " and the type ",
                                 scales.dtype(), "."));
  }
}

}  // namespace

array gather_qmm(const array& x, const array& w, const array& scales,
                 const std::optional<array>& biases, std::optional<array> lhs_indices,
                 std::optional<array> rhs_indices, bool transpose, std::optional<int> group_size,
                 std::optional<int> bits, const std::string& mode,
                 const std::optional<array>& global_scale, bool, StreamOrDevice s) {
  const char* op = "gather_qmm";
  if (!lhs_indices && !rhs_indices && !global_scale) {
    return quantized_matmul(x, w, scales, biases, transpose, group_size, bits, mode, s);
  }
  const Quantization q = quantization_of(op, mode, group_size, bits);
  const Stream stream = to_stream(s);
  // The product may overflow 16 bits before it is scaled.
  const array left = global_scale ? astype(x, float32, stream) : x;
  Factors f = checked_factors(op, q, left, w, scales, biases, transpose, stream);
  if (x.ndim() < 2) {
    invalid_argument(
        op, message("x must have at least 2 dimensions, but has the shape ", x.shape(), "."));
  }
  if (global_scale) check_global_scales(op, q, *global_scale, batch_of(w));
  auto [lhs, rhs] = index_pairs(op, lhs_indices, rhs_indices, f.x, w, stream);
  array out = gather_product(q, f, lhs, rhs, transpose, stream);
  if (!global_scale) return out;
  array factor = take(global_factor(flatten(*global_scale, stream), stream), rhs, stream);
  return astype(multiply(out, expand_dims(factor, {-2, -1}, stream), stream), x.dtype(), stream);
}

namespace {

// Quantises and dequantises x. With a global scale, that scale is applied too.
array rounded(const array& x, const Quantization& q, const std::optional<array>& global_scale,
              const Stream& s) {
  auto parts = quantize(x, q.group_size, q.bits, q.mode_name(), global_scale, s);
  return dequantize(parts[0], parts[1], std::nullopt, q.group_size, q.bits, q.mode_name(),
                    global_scale, float32, s);
}

Quantization small_floats(const char* op, const std::string& mode, std::optional<int> group_size,
                          std::optional<int> bits) {
  const Quantization q = quantization_of(op, mode, group_size, bits);
  if (q.affine()) {
    invalid_argument(op, "The mode affine is not supported: it must be one of small floats.");
  }
  return q;
}

struct Weights {
  array w;
  array scales;
};

// Returns w itself if it has scales, else quantises it.
Weights weights(const char* op, const Quantization& q, const array& w,
                const std::optional<array>& scales, const std::optional<array>& global_scale,
                const Stream& s) {
  if (scales) return {w, *scales};
  if (w.dtype() == uint32) {
    invalid_argument(op, "w is quantized: its scales must be given.");
  }
  check_groups(op, "w", w, q);
  auto parts = quantize(w, q.group_size, q.bits, q.mode_name(), global_scale, s);
  return {parts[0], parts[1]};
}

// Multiplies by the factor of w's global scale.
array scaled(const array& product, const std::optional<array>& global_scale, const Stream& s) {
  if (!global_scale) return product;
  return multiply(product, global_factor(reshape(*global_scale, {}, s), s), s);
}

}  // namespace

array gather_qqmm(const array& x, const array& w, const std::optional<array>& scales,
                  const std::optional<array>& lhs_indices, const std::optional<array>& rhs_indices,
                  std::optional<int> group_size, std::optional<int> bits, const std::string& mode,
                  const std::optional<array>& global_scale_x,
                  const std::optional<array>& global_scale_w, bool sorted_indices,
                  StreamOrDevice s) {
  const char* op = "gather_qqmm";
  const Quantization q = small_floats(op, mode, group_size, bits);
  const Stream stream = to_stream(s);
  check_global_scale(op, "global_scale_x", q, global_scale_x);
  check_global_scale(op, "global_scale_w", q, global_scale_w);
  check_groups(op, "x", x, q);
  Weights right = weights(op, q, w, scales, global_scale_w, stream);
  array out = gather_qmm(rounded(x, q, global_scale_x, stream), right.w, right.scales, std::nullopt,
                         lhs_indices, rhs_indices, true, q.group_size, q.bits, mode, std::nullopt,
                         sorted_indices, stream);
  return astype(scaled(out, global_scale_w, stream), x.dtype(), stream);
}

namespace {

// Gradients are products of quantised matrices too, if the rows consist of whole groups.
array gradient_product(const array& a, const array& b, const Quantization& q, const Stream& s) {
  if (a.shape(-1) % q.group_size == 0) {
    return qqmm(a, b, std::nullopt, q.group_size, q.bits, q.mode_name(), std::nullopt, std::nullopt,
                s);
  }
  return matmul(a, swapaxes(b, -1, -2, s), s);
}

std::vector<array> qqmm_gradients(const array& x, const array& w, const array& cotangent,
                                  const Quantization& q, const Stream& s) {
  array rows = reshape(x, {-1, x.shape(-1)}, s);
  array c = reshape(cotangent, {-1, w.shape(-2)}, s);
  array of_x = gradient_product(c, swapaxes(w, 0, 1, s), q, s);
  array of_w = gradient_product(swapaxes(c, 0, 1, s), swapaxes(rows, 0, 1, s), q, s);
  return {reshape(astype(of_x, x.dtype(), s), x.shape(), s), astype(of_w, w.dtype(), s)};
}

struct Given {
  std::optional<array> scales, global_scale_x, global_scale_w;
};

// The gradient with respect to x; its rounding counts as the identity.
array quantized_gradient(const std::vector<array>& in, const Given& g, const array& cotangent,
                         const Quantization& q, const Stream& s) {
  array out = quantized_matmul(astype(cotangent, float32, s), in[1], *g.scales, std::nullopt, false,
                               q.group_size, q.bits, q.mode_name(), s);
  return astype(scaled(out, g.global_scale_w, s), in[0].dtype(), s);
}

}  // namespace

array qqmm(const array& x, const array& w, const std::optional<array>& scales,
           std::optional<int> group_size, std::optional<int> bits, const std::string& mode,
           const std::optional<array>& global_scale_x, const std::optional<array>& global_scale_w,
           StreamOrDevice s) {
  const char* op = "qqmm";
  const Quantization q = small_floats(op, mode, group_size, bits);
  const Stream stream = to_stream(s);
  check_global_scale(op, "global_scale_x", q, global_scale_x);
  check_global_scale(op, "global_scale_w", q, global_scale_w);
  check_groups(op, "x", x, q);
  if (w.ndim() != 2) {
    invalid_argument(op, message("w must have 2 dimensions, but has the shape ", w.shape(), "."));
  }
  // All arrays become inputs of one function, which is differentiable with respect to x, and to w
  // if w is not quantised.
  std::vector<array> inputs{x, w};
  for (const auto* more : {&scales, &global_scale_x, &global_scale_w}) {
    if (*more) inputs.push_back(**more);
  }
  auto given = [has_scales = scales.has_value(), has_x = global_scale_x.has_value(),
                has_w = global_scale_w.has_value()](const std::vector<array>& in) {
    size_t next = 2;
    auto take = [&](bool there) { return there ? std::optional(in[next++]) : std::nullopt; };
    Given g;
    g.scales = take(has_scales);
    g.global_scale_x = take(has_x);
    g.global_scale_w = take(has_w);
    return g;
  };
  auto product = [=](const std::vector<array>& in) {
    const Given g = given(in);
    Weights parts = weights(op, q, in[1], g.scales, g.global_scale_w, stream);
    array out = quantized_matmul(rounded(in[0], q, g.global_scale_x, stream), parts.w, parts.scales,
                                 std::nullopt, true, q.group_size, q.bits, q.mode_name(), stream);
    return std::vector{astype(scaled(out, g.global_scale_w, stream), in[0].dtype(), stream)};
  };
  auto gradients = [=](const std::vector<array>& in, const std::vector<array>& c,
                       const std::vector<array>&) {
    const Given g = given(in);
    std::vector<array> out = g.scales ? std::vector{quantized_gradient(in, g, c[0], q, stream)}
                                      : qqmm_gradients(in[0], in[1], c[0], q, stream);
    while (out.size() < in.size()) out.push_back(zeros_like(in[out.size()], stream));
    return out;
  };
  return custom_vjp(product, gradients)(inputs)[0];
}

}  // namespace mlx::core
