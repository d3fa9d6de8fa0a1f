// Evaluation of distances of pairs: native loops on the host, kernels on the Metal device.
#include "distances/paired.h"
#include "distances/paired_native.h"
#include "distances/sizes.h"
#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

// Calls f(T()), where T is the points' type.
template <typename F>
void with_type(mx::Dtype dtype, F&& f) {
  if (dtype == mx::float32) {
    f(float());
  } else if (dtype == mx::float16) {
    f(mx::float16_t());
  } else {
    f(mx::bfloat16_t());
  }
}

template <typename T>
native::PairsOf<T> pairs_of(const Arrays& inputs) {
  return {inputs[0].data<T>(), inputs[1].data<T>(), inputs[2].data<int32_t>(),
          inputs[3].data<int32_t>(), size_t(inputs[0].shape(1))};
}

// Binds arguments one after the other.
class Launch {
 public:
  Launch(const std::string& kernel, const Arrays& inputs, Metric metric, mx::Stream s)
      : encoder_(mx::metal::get_command_encoder(s)), dims_(inputs[0].shape(1)) {
    const int few = dims_ <= 4 ? dims_ : 0;
    encoder_.set_compute_pipeline_state(
        find_kernel(kernel + (wide() ? "_wide_" : "_narrow_") + mx::type_to_name(inputs[0]), s,
                    {static_cast<int>(metric), few}));
    encoder_.set_bytes(PairedSizes{inputs[2].shape(0), inputs[0].shape(0), dims_}, 0);
  }
  Launch& in(const mx::array& a) {
    encoder_.set_input_array(a, next_++);
    return *this;
  }
  Launch& out(mx::array& a) {
    encoder_.set_output_array(a, next_++);
    return *this;
  }
  // `count` pairs or rows, and parts of the coordinates that threads or SIMD-groups share.
  void run(size_t count, size_t narrow_parts, size_t wide_parts) {
    if (wide()) {
      encoder_.dispatch_threadgroups(
          MTL::Size(mx::ceildiv(count, DISTANCE_SIMDGROUPS), wide_parts, 1),
          MTL::Size(32 * DISTANCE_SIMDGROUPS, 1, 1));
    } else {
      encoder_.dispatch_threads(MTL::Size(count, narrow_parts, 1), MTL::Size(256, 1, 1));
    }
  }

 private:
  bool wide() const { return dims_ >= PAIRED_WIDE_DIMS; }

  mx::metal::CommandEncoder& encoder_;
  int dims_;
  int next_ = 1;
};

}  // namespace

void PairedDistance::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  with_type(out.dtype(), [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [pairs = pairs_of<T>(inputs), count = out.size(), m = metric_, to = out.data<T>()] {
          native::paired_distances(pairs, count, m, to);
        });
  });
}

void PairedDistance::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  Launch launch("paired_distance", inputs, metric_, stream());
  for (auto& input : inputs) {
    launch.in(input);
  }
  launch.out(out).run(out.size(), 1, 1);
}

void PairedGradient::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  bool cosine = metric_ == Metric::Cosine;
  native::PairsByRow rows{inputs[6].data<int32_t>(), inputs[7].data<int32_t>(),
                          size_t(inputs[0].shape(0)), cosine ? inputs[8].data<float>() : nullptr,
                          cosine ? inputs[9].data<float>() : nullptr};
  with_type(out.dtype(), [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [pairs = pairs_of<T>(inputs), rows, g = inputs[4].data<T>(), d = inputs[5].data<T>(),
         m = metric_, to = out.data<T>()] { native::paired_gradient(pairs, rows, g, d, m, to); });
  });
}

void PairedGradient::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  Launch launch("paired_gradient", inputs, metric_, stream());
  launch.in(inputs[0]).in(inputs[1]);
  for (size_t i = 3; i < 8; ++i) {
    launch.in(inputs[i]);
  }
  // What is not there is not read.
  bool cosine = metric_ == Metric::Cosine;
  launch.in(inputs[cosine ? 8 : 7]).in(inputs[cosine ? 9 : 7]).out(out);
  size_t dims = out.shape(1);
  launch.run(dims ? out.shape(0) : 0, mx::ceildiv(dims, DISTANCE_DIMS), mx::ceildiv(dims, 32));
}

}  // namespace mlx_sample
