// Arrays made from ranges, scalars and random keys; conversions.
#include "mlx/primitives/creation.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/unary.h"

namespace mlx::core {

MLX_EVAL(Arange) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  if (out.dtype() == float64) {
    check_float64("Arange", stream());
    return cpu::arange_float64(start_, step_, out, stream());
  }
  static KernelTable table(kDtypes);
  auto* kernel = table.get(dtype_index(out.dtype()),
                           [&] { return kernel_name("Arange", type_name(out.dtype())); });
  auto& encoder = metal::get_command_encoder(stream());
  dispatch_line(encoder, out.size(), [&](int64_t first) {
    encoder.set_compute_pipeline_state(kernel);
    encoder.set_output_array(out, 0, first * out.itemsize());
    double start = start_ + first * step_;
    if (issubdtype(out.dtype(), inexact)) {
      encoder.set_bytes(static_cast<float>(start), 1);
      encoder.set_bytes(static_cast<float>(step_), 2);
    } else {
      encoder.set_bytes(static_cast<int64_t>(start), 1);
      encoder.set_bytes(static_cast<int64_t>(step_), 2);
    }
  });
}

MLX_EVAL(Full) {
  auto& in = inputs[0];
  allocate_output(out);
  copy_inplace(in, out, in.data_size() == 1 ? CopyType::Scalar : CopyType::General, stream());
}

MLX_EVAL(AsType) {
  auto& in = inputs[0];
  if (in.data_size() == 1 && out.size() > 1) {
    // A repeated scalar stays a repeated scalar.
    out.set_data(allocator::malloc(out.itemsize()), 1, in.strides(), in.flags());
    return copy_inplace(in, out, CopyType::Scalar, stream());
  }
  copy(in, out, in.flags().contiguous ? CopyType::Vector : CopyType::General, stream());
}

MLX_EVAL(Copy) { move_or_copy(inputs[0], out); }

MLX_EVAL(RandomBits) {
  allocate_output(out);
  array keys = row_contiguous(inputs[0], stream());
  size_t num_keys = keys.size() / 2;
  if (out.size() == 0) {
    return;
  }
  struct {
    uint64_t bytes_per_key;
    uint32_t words;
    uint32_t padding;
  } params{};
  params.bytes_per_key = out.nbytes() / num_keys;
  params.words = static_cast<uint32_t>((params.bytes_per_key + 3) / 4);
  static KernelTable table(2);
  bool whole = params.bytes_per_key % 8 == 0;
  auto* kernel = table.get(whole ? 0 : 1,
                           [&] { return std::string(whole ? "random_words" : "random_bytes"); });
  auto& encoder = metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(keys, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(params, 2);
  dispatch_grid(encoder, (params.words + 1) / 2, num_keys);
}

}  // namespace mlx::core
