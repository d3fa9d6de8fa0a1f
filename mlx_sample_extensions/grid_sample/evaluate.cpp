// grid_sample: evaluation of its primitives, a kernel each.
#include "grid_sample/grid_sample.h"
#include "grid_sample/sizes.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

// From so many channels on, a point has a SIMD-group of its own, whose lanes walk the channels;
// with fewer, a thread.
constexpr int kWideChannels = 16;

GridSizes sizes_of(const mx::array& pictures, const mx::array& grid) {
  return {pictures.shape(1), pictures.shape(2), pictures.shape(3), grid.shape(1) * grid.shape(2)};
}

MTL::ComputePipelineState* find_kernel(const std::string& name, const Sampling& how, mx::Stream s) {
  auto& d = mx::metal::device(s.device);
  auto* library = d.get_library("mlx_ext", mx::metal::get_colocated_mtllib_path("mlx_ext"));
  std::string special = name;
  for (int constant :
       {how.mode, how.padding, int(how.align_corners), how.column_order, how.row_order}) {
    special += '_' + std::to_string(constant);
  }
  return d.get_kernel(name, library, special,
                      {{&how.mode, MTL::DataTypeInt, 0},
                       {&how.padding, MTL::DataTypeInt, 1},
                       {&how.align_corners, MTL::DataTypeBool, 2},
                       {&how.column_order, MTL::DataTypeInt, 3},
                       {&how.row_order, MTL::DataTypeInt, 4}});
}

// Selects the kernel for the type of the inputs and binds them; what is left is to bind the outputs
// from argument inputs.size() + 1 on, and to dispatch.
struct Launch {
  mx::metal::CommandEncoder& encoder;
  bool wide;
  size_t points;

  Launch(const char* name, const std::vector<mx::array>& inputs, const GridSizes& sizes,
         const Sampling& how, mx::Stream s)
      : encoder(mx::metal::get_command_encoder(s)),
        wide(sizes.channels >= kWideChannels),
        points(inputs[1].size() / 2) {
    encoder.set_compute_pipeline_state(find_kernel(
        std::string(name) + (wide ? "_wide_" : "_narrow_") + mx::type_to_name(inputs[0]), how, s));
    encoder.set_bytes(sizes, 0);
    for (size_t i = 0; i < inputs.size(); ++i) {
      encoder.set_input_array(inputs[i], static_cast<int>(i) + 1);
    }
  }

  void dispatch() {
    size_t threads = wide ? 32 * points : points;
    encoder.dispatch_threads(MTL::Size(threads, 1, 1),
                             MTL::Size(32 * GRID_SAMPLE_SIMDGROUPS, 1, 1));
  }
};

}  // namespace

void GridSample::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto& out = outputs[0];
  out.set_data(mx::allocator::malloc(out.nbytes()));
  Launch launch("grid_sample", inputs, sizes_of(inputs[0], inputs[1]), how_, stream());
  launch.encoder.set_output_array(out, 3);
  launch.dispatch();
}

void GridSpread::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto& out = outputs[0];
  mx::fill_gpu(mx::array(0.0f), out, stream());
  Launch launch("grid_spread", inputs, sizes_of(out, inputs[1]), how_, stream());
  launch.encoder.set_output_array(out, 3);
  launch.dispatch();
}

void GridSampleGradient::eval_gpu(const std::vector<mx::array>& inputs,
                                  std::vector<mx::array>& outputs) {
  mx::fill_gpu(mx::array(0.0f), outputs[0], stream());
  outputs[1].set_data(mx::allocator::malloc(outputs[1].nbytes()));
  Launch launch("grid_sample_gradient", inputs, sizes_of(inputs[0], inputs[1]), how_, stream());
  launch.encoder.set_output_array(outputs[0], 4);
  launch.encoder.set_output_array(outputs[1], 5);
  launch.dispatch();
}

}  // namespace mlx_sample
