#include "mlx/primitives/attention.h"

#include "mlx/primitives/rules.h"

namespace mlx::core {

bool Attention::fits(const std::vector<array>& inputs, bool causal) {
  if (inputs.size() != 3) return false;
  for (const array& x : inputs) {
    if (x.ndim() != 4 || x.dtype() != inputs[0].dtype() || x.shape(0) != inputs[0].shape(0))
      return false;
  }
  const array &q = inputs[0], &k = inputs[1];
  const int heads = k.shape(1), depth = q.shape(3);
  return (q.dtype() == float16 || q.dtype() == bfloat16) && (depth == 64 || depth == 128) &&
         k.shape(3) == depth && k.shape() == inputs[2].shape() && k.shape(2) > 0 && heads > 0 &&
         q.shape(1) % heads == 0 && (!causal || k.shape(2) >= q.shape(2));
}

std::vector<array> Attention::compute(const std::vector<array>& inputs) const {
  return {attention_by_scores(inputs[0], inputs[1], inputs[2], scale_, causal_, stream())};
}

std::vector<array> Attention::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents,
                                  const std::vector<int>& argnums) {
  return jvp_as([this](const std::vector<array>& in) { return compute(in); }, primals, tangents,
                argnums);
}

std::vector<array> Attention::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents,
                                  const std::vector<int>& argnums, const std::vector<array>&) {
  auto fun = [this](const std::vector<array>& in) { return compute(in); };
  return detail::vjp(fun, primals, cotangents, argnums).second;
}

VmapResult Attention::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return vmap_as([this](const std::vector<array>& in) { return compute(in); }, inputs, axes);
}

}  // namespace mlx::core
