#pragma once

#include "mlx/ops.h"
#include "mlx/primitives.h"

namespace mlx::core {

/** The sum of two arrays, elementwise, limited to [low, high]. */
array clamped_sum(const array& a, const array& b, const float low, const float high,
                  StreamOrDevice s = {});

class ClampedSum : public Primitive {
 public:
  explicit ClampedSum(Stream stream, float low, float high)
      : Primitive(stream), low_(low), high_(high) {};

  void eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) override;
  void eval_gpu(const std::vector<array>& inputs, std::vector<array>& outputs) override;

  std::vector<array> jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                         const std::vector<int>& argnums) override;

  std::vector<array> vjp(const std::vector<array>& primals, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& outputs) override;

  std::pair<std::vector<array>, std::vector<int>> vmap(const std::vector<array>& inputs,
                                                       const std::vector<int>& axes) override;

  void print(std::ostream& os) override { os << "ClampedSum"; }

  bool is_equivalent(const Primitive& other) const override;

 private:
  float low_;
  float high_;

  array inside(const array& a, const array& b);
  void eval(const std::vector<array>& inputs, std::vector<array>& outputs);
};

}  // namespace mlx::core
