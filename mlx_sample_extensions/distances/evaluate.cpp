// Evaluation of distances: native loops on the host, kernels on the Metal device.
#include "distances/dispatch.h"
#include "distances/native.h"
#include "distances/sizes.h"
#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

native::PairSizes sizes_of(const mx::array& a, const mx::array& b) {
  return {size_t(a.shape(0)), size_t(a.shape(1)), size_t(b.shape(1)), size_t(a.shape(2))};
}

// Points (B, N, D) as (B, D, N), for as long as the stream needs them.
mx::array by_coordinates(const mx::array& points, mx::Stream s) {
  return mx::contiguous_copy_gpu(mx::swapaxes_in_eval(points, 1, 2), s);
}

// Binds what both gradients' kernels take.
mx::metal::CommandEncoder& bind_gradient(const char* kernel, const Arrays& inputs, Metric metric,
                                         mx::array& out, mx::Stream s) {
  auto& a = inputs[0];
  auto& b = inputs[1];
  DistanceSizes sizes{a.shape(1), b.shape(1), a.shape(2)};
  auto others = by_coordinates(b, s);
  auto& encoder = mx::metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(find_kernel(kernel, s, {static_cast<int>(metric)}));
  encoder.set_bytes(sizes, 0);
  encoder.set_input_array(a, 1);
  encoder.set_input_array(others, 2);
  encoder.set_input_array(inputs[2], 3);
  encoder.set_input_array(inputs[3], 4);
  encoder.set_output_array(out, 5);
  return encoder;
}

}  // namespace

void PairwiseDistance::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  with_type(dtype_, [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [sizes = sizes_of(inputs[0], inputs[1]), m = metric_, a = inputs[0].data<float>(),
         b = inputs[1].data<float>(),
         out = outputs[0].data<T>()] { native::distances(a, b, sizes, m, out); });
  });
}

void PairwiseDistance::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  auto& out = outputs[0];
  if (out.size() == 0) {
    return;
  }
  DistanceSizes sizes{out.shape(1), out.shape(2), inputs[0].shape(2)};
  auto others = by_coordinates(inputs[1], stream());
  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.set_compute_pipeline_state(find_kernel("pairwise_distance_" + mx::type_to_name(out),
                                                 stream(), {static_cast<int>(metric_)}));
  encoder.set_bytes(sizes, 0);
  encoder.set_input_array(inputs[0], 1);
  encoder.set_input_array(others, 2);
  encoder.set_output_array(out, 3);
  encoder.dispatch_threads(
      MTL::Size(out.shape(2), mx::ceildiv(out.shape(1), DISTANCE_ROWS), out.shape(0)),
      MTL::Size(256, 1, 1));
}

void PairwiseGradient::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  mx::cpu::get_command_encoder(stream()).dispatch(
      [sizes = sizes_of(inputs[0], inputs[1]), m = metric_, a = inputs[0].data<float>(),
       b = inputs[1].data<float>(), d = inputs[2].data<float>(), g = inputs[3].data<float>(),
       ga = by_a_ ? outputs[0].data<float>() : nullptr,
       gb = by_b_ ? outputs[by_a_].data<float>() : nullptr] {
        native::distance_gradients(a, b, d, g, sizes, m, ga, gb);
      });
}

void PairwiseGradient::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  size_t batch = inputs[0].shape(0);
  size_t rows = inputs[0].shape(1);
  size_t columns = inputs[1].shape(1);
  size_t parts = mx::ceildiv(inputs[0].shape(2), DISTANCE_DIMS);
  constexpr size_t kThreads = 32 * DISTANCE_SIMDGROUPS;
  if (by_a_ && outputs[0].size() > 0) {
    bind_gradient("pairwise_gradient_of_rows", inputs, metric_, outputs[0], stream())
        .dispatch_threadgroups(MTL::Size(mx::ceildiv(rows, DISTANCE_SIMDGROUPS), parts, batch),
                               MTL::Size(kThreads, 1, 1));
  }
  if (by_b_ && outputs[by_a_].size() > 0) {
    bind_gradient("pairwise_gradient_of_columns", inputs, metric_, outputs[by_a_], stream())
        .dispatch_threads(MTL::Size(columns, parts, batch), MTL::Size(kThreads, 1, 1));
  }
}

}  // namespace mlx_sample
