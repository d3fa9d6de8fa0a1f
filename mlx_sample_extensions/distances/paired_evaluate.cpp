// Evaluation of distances of listed pairs by kernels.
#include "distances/paired.h"
#include "distances/sizes.h"
#include "evaluation.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

bool is_wide(const Arrays& inputs) { return inputs[0].shape(1) >= PAIRED_WIDE_DIMS; }

KernelCall call(const std::string& kernel, const Arrays& inputs, Metric metric, mx::Stream s) {
  const int dims = inputs[0].shape(1);
  const int few = dims <= 4 ? dims : 0;
  auto name = kernel + (is_wide(inputs) ? "_wide_" : "_narrow_") + mx::type_to_name(inputs[0]);
  KernelCall result(find_kernel(name, s, {static_cast<int>(metric), few}), s);
  result.bytes(PairedSizes{inputs[2].shape(0), inputs[0].shape(0), dims});
  return result;
}

// The threads of `count` SIMD-groups, rounded up to whole threadgroups.
size_t whole_groups(size_t count) {
  constexpr size_t kThreads = 32 * PAIRED_SIMDGROUPS;
  static_assert(kThreads == KernelCall::kThreadgroup);
  return mx::ceildiv(count, PAIRED_SIMDGROUPS) * kThreads;
}

}  // namespace

// One kernel serves both devices.
void PairedDistance::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }

void PairedDistance::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  auto kernel = call("paired_distance", inputs, metric_, stream());
  for (auto& input : inputs) {
    kernel.in(input);
  }
  kernel.out(out).run(is_wide(inputs) ? mx::ceildiv(out.size(), 32) * 32 : out.size());
}

void PairedGradient::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }

void PairedGradient::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto& out = outputs[0];
  allocate(out);
  auto kernel = call("paired_gradient", inputs, metric_, stream());
  kernel.in(inputs[0]).in(inputs[1]);
  for (size_t i = 3; i < 8; ++i) {
    kernel.in(inputs[i]);
  }
  // Missing arrays are not read, so any array is bound in their place.
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
