// swiglu: gate * sigmoid(gate) * up in one pass.
#pragma once

#include "mlx/ops.h"
#include "mlx/primitives.h"

namespace swiglu {

namespace mx = mlx::core;

// The arguments are broadcast; integers become float32.
mx::array swiglu(const mx::array& gate, const mx::array& up, mx::StreamOrDevice s = {});

class SwiGLU : public mx::UnaryPrimitive {
 public:
  explicit SwiGLU(mx::Stream stream) : mx::UnaryPrimitive(stream) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override;
  void eval_gpu(const std::vector<mx::array>& inputs, mx::array& out) override;

  std::vector<mx::array> vjp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& cotangents,
                             const std::vector<int>& argnums,
                             const std::vector<mx::array>& outputs) override;

  const char* name() const override { return "SwiGLU"; }
  bool is_equivalent(const mx::Primitive&) const override { return true; }
};

}  // namespace swiglu
