#include "swiglu/swiglu.h"

#include <cmath>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/dtype_utils.h"

namespace swiglu {

mx::array swiglu(const mx::array& gate, const mx::array& up, mx::StreamOrDevice s) {
  auto dtype = mx::at_least_float(mx::result_type(gate, up));
  auto inputs = mx::broadcast_arrays({mx::astype(gate, dtype, s), mx::astype(up, dtype, s)}, s);
  // The kernels need row-contiguous memory; only other arrays are copied.
  for (auto& input : inputs) {
    input = mx::contiguous(input, false, s);
  }
  return mx::array(inputs[0].shape(), dtype, std::make_shared<SwiGLU>(mx::to_stream(s)), inputs);
}

// On the host: the loop runs in order with the stream's other work, after this function has
// returned.
void SwiGLU::eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) {
  out.set_data(mx::allocator::malloc(out.nbytes()));
  auto& encoder = mx::cpu::get_command_encoder(stream());
  encoder.set_input_array(inputs[0]);
  encoder.set_input_array(inputs[1]);
  encoder.set_output_array(out);
  mx::dispatch_float_types(out.dtype(), "[swiglu]", [&](auto type) {
    using T = MLX_GET_TYPE(type);
    encoder.dispatch([gate = inputs[0].data<T>(), up = inputs[1].data<T>(), out = out.data<T>(),
                      n = out.size()] {
      for (size_t i = 0; i < n; ++i) {
        float g = gate[i];
        out[i] = T(g / (1 + std::exp(-g)) * static_cast<float>(up[i]));
      }
    });
  });
}

// On the Metal device: one thread for each element.
void SwiGLU::eval_gpu(const std::vector<mx::array>& inputs, mx::array& out) {
  out.set_data(mx::allocator::malloc(out.nbytes()));
  auto& d = mx::metal::device(stream().device);
  d.register_library("mlx_swiglu", mx::metal::get_colocated_mtllib_path);
  auto* kernel = d.get_kernel("swiglu_" + mx::type_to_name(out), "mlx_swiglu");

  auto& encoder = d.get_command_encoder(stream().index);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(inputs[0], 0);
  encoder.set_input_array(inputs[1], 1);
  encoder.set_output_array(out, 2);
  auto group = std::min(out.size(), kernel->maxTotalThreadsPerThreadgroup());
  encoder.dispatch_threads(MTL::Size(out.size(), 1, 1), MTL::Size(group, 1, 1));
}

// With s = sigmoid(gate): d/dgate = s * (1 + gate * (1 - s)) * up, d/dup = s * gate.
std::vector<mx::array> SwiGLU::vjp(const std::vector<mx::array>& primals,
                                   const std::vector<mx::array>& cotangents,
                                   const std::vector<int>& argnums, const std::vector<mx::array>&) {
  auto& gate = primals[0];
  auto& up = primals[1];
  auto s = stream();
  auto sigmoid = mx::sigmoid(gate, s);
  auto one = mx::array(1, gate.dtype());
  std::vector<mx::array> result;
  for (int argument : argnums) {
    auto silu = mx::multiply(sigmoid, gate, s);
    auto slope = mx::add(sigmoid, mx::multiply(silu, mx::subtract(one, sigmoid, s), s), s);
    auto factor = argument == 0 ? mx::multiply(slope, up, s) : silu;
    result.push_back(mx::multiply(cotangents[0], factor, s));
  }
  return result;
}

}  // namespace swiglu
