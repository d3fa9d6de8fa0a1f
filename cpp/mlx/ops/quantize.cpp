// Quantisation and dequantisation.
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/ops/quantized_checks.h"
#include "mlx/primitives/quantized.h"

namespace mlx::core {

std::vector<array> quantize(const array& w, std::optional<int> group_size, std::optional<int> bits,
                            const std::string& mode, const std::optional<array>& global_scale,
                            StreamOrDevice s) {
  const char* op = "quantize";
  const Quantization q = quantization_of(op, mode, group_size, bits);
  check_global_scale(op, "global_scale", q, global_scale);
  check_groups(op, "w", w, q);
  const Stream stream = to_stream(s);
  std::vector<array> inputs{w};
  if (global_scale) inputs.push_back(astype(*global_scale, float32, stream));
  auto primitive = std::make_shared<Quantize>(stream, q);
  std::vector<Dtype> types{uint32, q.affine() ? w.dtype() : uint8};
  if (q.affine()) types.push_back(w.dtype());
  return array::make_arrays(primitive->output_shapes(inputs), types, primitive, inputs);
}

array dequantize(const array& w, const array& scales, const std::optional<array>& biases,
                 std::optional<int> group_size, std::optional<int> bits, const std::string& mode,
                 const std::optional<array>& global_scale, std::optional<Dtype> dtype,
                 StreamOrDevice s) {
  const char* op = "dequantize";
  const Quantization q = quantization_of(op, mode, group_size, bits);
  check_quantized(op, q, w, scales, biases);
  check_global_scale(op, "global_scale", q, global_scale);
  if (dtype) check_quantizable(op, "the result", *dtype);
  const Stream stream = to_stream(s);
  std::vector<array> inputs{w, scales};
  Dtype made = dtype.value_or(bfloat16);
  if (q.affine()) {
    // Computes in the type of the scales, or in float32 for any other type.
    const Dtype type = result_type(scales, *biases);
    inputs[1] = astype(scales, type, stream);
    inputs.push_back(astype(*biases, type, stream));
    made = !dtype || *dtype == type ? type : float32;
  } else if (global_scale) {
    inputs.push_back(astype(*global_scale, float32, stream));
    made = dtype.value_or(float32);  // the global scale's type, whose product it is
  }
  auto primitive = std::make_shared<Dequantize>(stream, q, made);
  array out(primitive->output_shapes(inputs)[0], made, primitive, inputs);
  return astype(out, dtype.value_or(made), stream);
}

array to_fp8(array x, StreamOrDevice s) {
  check_quantizable("to_fp8", "x", x.dtype());
  return elementwise<ConvertFP8>({x}, uint8, to_stream(s), true, uint8);
}

array from_fp8(array x, Dtype dtype, StreamOrDevice s) {
  if (x.dtype() != uint8) {
    invalid_argument("from_fp8", message("The type of x must be uint8, not ", x.dtype(), "."));
  }
  check_quantizable("from_fp8", "the result", dtype);
  return elementwise<ConvertFP8>({x}, dtype, to_stream(s), false, dtype);
}

}  // namespace mlx::core
