// Scaled dot-product attention: a threadgroup for each block of queries of a head.
#include "mlx/primitives/attention.h"

#include <algorithm>
#include <cstdint>
#include <numbers>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/kernels/attention_params.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

// Below this number, most rows of a block would be empty.
constexpr int kFewQueries = 16;

constexpr int64_t kVector = 8;  // elements that the kernel reads at once

// Whether all rows begin at multiples of a vector, and those of a head are within 31 bits.
bool is_readable(const array& x) {
  const auto is_multiple = [](int64_t step) { return step % kVector == 0; };
  const int64_t step = x.strides(2) / kVector;
  return x.strides(-1) == 1 && is_multiple(x.offset() / int64_t(x.itemsize())) &&
         std::all_of(x.strides().begin(), x.strides().end() - 1, is_multiple) && step >= 0 &&
         step * x.shape(2) <= INT32_MAX;
}

uint32_t set_steps(const array& x, int64_t (&steps)[2]) {
  for (int i = 0; i < 2; ++i) steps[i] = x.strides(i) / kVector;
  return static_cast<uint32_t>(x.strides(2) / kVector);
}

}  // namespace

bool Attention::has_kernel(const std::vector<array>& inputs, bool causal, const Stream& s) {
  return runs_on_gpu(s) && fits(inputs, causal) && inputs[0].shape(2) >= kFewQueries;
}

MLX_EVAL(Attention) {
  const Stream s = stream();
  allocate_output(out);
  if (out.size() == 0) return;
  static KernelTable table(4 * kDtypes);
  const int depth = out.shape(3);
  const int form = causal_ * 2 + (depth == 128);
  auto* kernel = table.get(form * kDtypes + dtype_index(out.dtype()), [&] {
    return kernel_name(causal_ ? "CausalAttention" : "Attention", type_name(out.dtype()),
                       std::to_string(depth));
  });
  std::vector<array> operands;
  for (const array& x : inputs) operands.push_back(is_readable(x) ? x : contiguous_copy(x, s));
  AttentionParams params{};
  params.q_step = set_steps(operands[0], params.q_steps);
  params.k_step = set_steps(operands[1], params.k_steps);
  params.v_step = set_steps(operands[2], params.v_steps);
  params.heads = static_cast<uint32_t>(out.shape(1));
  params.sharing = static_cast<uint32_t>(out.shape(1) / inputs[1].shape(1));
  params.queries = static_cast<uint32_t>(out.shape(2));
  params.keys = static_cast<uint32_t>(inputs[1].shape(2));
  params.scale = scale_ * std::numbers::log2e_v<float>;
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  for (int i = 0; i < 3; ++i) encoder.set_input_array(operands[i], i);
  encoder.set_output_array(out, 3);
  encoder.set_bytes(params, 4);
  const auto dispatch = [&](size_t queries, size_t threads) {
    const size_t blocks = (params.queries + queries - 1) / queries;
    encoder.dispatch_threadgroups(MTL::Size(blocks, params.heads, size_t(out.shape(0))),
                                  MTL::Size(threads, 1, 1));
  };
  using Of64 = AttentionTiles<64>;
  using Of128 = AttentionTiles<128>;
  depth == 64 ? dispatch(Of64::kBlockQueries, Of64::kThreads)
              : dispatch(Of128::kBlockQueries, Of128::kThreads);
}

}  // namespace mlx::core
