// Quantisation and dequantisation.
#include "mlx/backend/metal/ops/quantized.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/quantized.h"

namespace mlx::core {

int quantized_kind(const Quantization& q) {
  if (!q.affine()) return 6 + q.mode;
  return q.bits == 8 ? 6 : q.bits - 1;
}

std::string quantized_name(const Quantization& q) {
  return q.affine() ? q.mode_name() + std::to_string(q.bits) : q.mode_name();
}

QuantizedArrays::QuantizedArrays(const std::vector<array>& inputs, size_t first,
                                 const Quantization& q, Stream s)
    : w(row_contiguous(inputs[first], s)),
      scales(row_contiguous(inputs[first + 1], s)),
      biases(q.affine() ? row_contiguous(inputs[first + 2], s) : scales) {}

namespace {

// A multiple of every group size, so that the parts of a long array consist of whole groups.
constexpr size_t kMaxAtOnce = size_t{1} << 30;

uint32_t units_of_group(const Quantization& q) {
  return std::max<uint32_t>(1, q.group_size / static_cast<int>(kLanes));
}

}  // namespace

void dequantize_part(const QuantizedArrays& in, const Quantization& q, const QuantizedPart& part,
                     array& out, Stream s) {
  static KernelTable table(kQuantizedKinds * kDtypes * kDtypes);
  const Dtype from = in.scales.dtype(), to = out.dtype();
  const int kind = quantized_kind(q);
  auto* kernel = table.get((kind * kDtypes + dtype_index(from)) * kDtypes + dtype_index(to), [&] {
    return kernel_name("Dequantize", quantized_name(q), type_name(from), type_name(to));
  });
  auto& encoder = metal::get_command_encoder(s);
  for (size_t done = 0; done < part.count; done += kMaxAtOnce) {
    const auto size = static_cast<uint32_t>(std::min(kMaxAtOnce, part.count - done));
    const auto at = static_cast<int64_t>(part.first + done);
    const int64_t group = at / q.group_size;
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_input_array(in.w, 0, at * q.bits / 8);
    encoder.set_input_array(in.scales, 1, group * static_cast<int64_t>(in.scales.itemsize()));
    encoder.set_input_array(in.biases, 2, group * static_cast<int64_t>(in.biases.itemsize()));
    encoder.set_output_array(out, 3, static_cast<int64_t>(done * out.itemsize()));
    encoder.set_input_array(part.global_scale ? *part.global_scale : in.scales, 4);
    encoder.set_input_array(part.uses ? *part.uses : in.scales, 5, part.uses ? part.use * 4 : 0);
    encoder.set_bytes(
        DequantizeParams{units_of_group(q), size, part.global_scale ? 1u : 0u, part.uses ? 1u : 0u},
        6);
    dispatch_grid(encoder, in_simd_groups(size));
  }
}

MLX_EVAL(Dequantize) {
  allocate_output(out);
  if (out.size() == 0) return;
  const bool has_global_scale = !quantization_.affine() && inputs.size() > 2;
  dequantize_part(QuantizedArrays(inputs, 0, quantization_, stream()), quantization_,
                  {0, out.size(), has_global_scale ? &inputs[2] : nullptr}, out, stream());
}

MLX_EVAL_MULTI(Quantize) {
  for (array& out : outputs) allocate_output(out);
  if (inputs[0].size() == 0) return;
  const Quantization& q = quantization_;
  const array in = row_contiguous(inputs[0], stream());
  static KernelTable table(kQuantizedKinds * kDtypes);
  auto* kernel = table.get(quantized_kind(q) * kDtypes + dtype_index(in.dtype()), [&] {
    return kernel_name("Quantize", quantized_name(q), type_name(in.dtype()));
  });
  auto& encoder = metal::get_command_encoder(stream());
  for (size_t done = 0; done < in.size(); done += kMaxAtOnce) {
    const auto size = static_cast<uint32_t>(std::min(kMaxAtOnce, in.size() - done));
    const auto at = static_cast<int64_t>(done);
    const int64_t group = at / q.group_size;
    const int64_t in_scales = group * static_cast<int64_t>(outputs[1].itemsize());
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_input_array(in, 0, at * static_cast<int64_t>(in.itemsize()));
    encoder.set_output_array(outputs[0], 1, at * q.bits / 8);
    encoder.set_output_array(outputs[1], 2, in_scales);
    if (q.affine()) {
      encoder.set_output_array(outputs[2], 3, in_scales);
      encoder.set_bytes(units_of_group(q), 4);
      dispatch_grid(encoder, size / units_of_group(q));
    } else {
      const bool has_global_scale = inputs.size() > 1;
      encoder.set_input_array(has_global_scale ? inputs[1] : in, 3);
      encoder.set_bytes(has_global_scale ? 1 : 0, 4);
      encoder.set_bytes(size, 5);
      dispatch_grid(encoder, in_simd_groups(size));
    }
  }
}

MLX_EVAL(ConvertFP8) {
  allocate_output(out);
  if (out.size() == 0) return;
  const array in = row_contiguous(inputs[0], stream());
  const Dtype dtype = to_fp8_ ? in.dtype() : out.dtype();
  static KernelTable table(2 * kDtypes);
  auto* kernel = table.get((to_fp8_ ? 0 : kDtypes) + dtype_index(dtype), [&] {
    return kernel_name(to_fp8_ ? "ToFP8" : "FromFP8", type_name(dtype));
  });
  auto& encoder = metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(kernel);
  dispatch_line(encoder, out.size(), [&](int64_t first) {
    encoder.set_input_array(in, 0, first * static_cast<int64_t>(in.itemsize()));
    encoder.set_output_array(out, 1, first * static_cast<int64_t>(out.itemsize()));
  });
}

}  // namespace mlx::core
