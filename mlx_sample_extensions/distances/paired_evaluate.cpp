// Evaluation of distances of pairs: native loops on the host, kernels on the Metal device.
#include "distances/dispatch.h"
#include "distances/paired.h"
#include "distances/paired_native.h"
#include "distances/sizes.h"
#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

template <typename T>
native::PairsOf<T> pairs_of(const Arrays& inputs) {
  return {inputs[0].data<T>(), inputs[1].data<T>(), inputs[2].data<int32_t>(),
          inputs[3].data<int32_t>(), size_t(inputs[0].shape(1))};
}

bool is_wide(const Arrays& inputs) { return inputs[0].shape(1) >= PAIRED_WIDE_DIMS; }

KernelCall call(const std::string& kernel, const Arrays& inputs, Metric metric, mx::Stream s) {
  const int dims = inputs[0].shape(1);
  const int few = dims <= 4 ? dims : 0;
  auto name = kernel + (is_wide(inputs) ? "_wide_" : "_narrow_") + mx::type_to_name(inputs[0]);
  KernelCall result(find_kernel(name, s, {static_cast<int>(metric), few}), s);
  result.bytes(PairedSizes{inputs[2].shape(0), inputs[0].shape(0), dims});
  return result;
}

// Threads for `count` SIMD-groups, which fill threadgroups.
size_t whole_groups(size_t count) {
  constexpr size_t kThreads = 32 * PAIRED_SIMDGROUPS;
  static_assert(kThreads == KernelCall::kThreadgroup);
  return mx::ceildiv(count, PAIRED_SIMDGROUPS) * kThreads;
}

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
  auto kernel = call("paired_distance", inputs, metric_, stream());
  for (auto& input : inputs) {
    kernel.in(input);
  }
  kernel.out(out).run(is_wide(inputs) ? whole_groups(out.size()) : out.size());
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
  auto kernel = call("paired_gradient", inputs, metric_, stream());
  kernel.in(inputs[0]).in(inputs[1]);
  for (size_t i = 3; i < 8; ++i) {
    kernel.in(inputs[i]);
  }
  // What is not there is not read.
  bool cosine = metric_ == Metric::Cosine;
  kernel.in(inputs[cosine ? 8 : 7]).in(inputs[cosine ? 9 : 7]).out(out);
  size_t dims = out.shape(1);
  size_t rows = dims ? out.shape(0) : 0;
  if (is_wide(inputs)) {
    kernel.run(whole_groups(rows), mx::ceildiv(dims, 32));
  } else {
    kernel.run(rows, mx::ceildiv(dims, PAIRED_DIMS));
  }
}

}  // namespace mlx_sample
