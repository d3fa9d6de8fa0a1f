#pragma once

#include "mlx/ops.h"
#include "mlx/primitives.h"

namespace mx = mlx::core;

namespace my_ops {

// cap * tanh(x / cap)
mx::array softcap(const mx::array& x, float cap, mx::StreamOrDevice s = {});

// The same, and the largest magnitude of each row (along the last axis) before it.
std::vector<mx::array> capped_rows(const mx::array& x, float cap, mx::StreamOrDevice s = {});

class Softcap : public mx::UnaryPrimitive {
 public:
  explicit Softcap(mx::Stream stream, float cap) : mx::UnaryPrimitive(stream), cap_(cap) {}

  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override;
  void eval_gpu(const std::vector<mx::array>& inputs, mx::array& out) override;

  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override;
  DEFINE_NAME(Softcap)
  DEFINE_INPUT_OUTPUT_SHAPE()
  bool is_equivalent(const mx::Primitive& other) const override {
    return cap_ == static_cast<const Softcap&>(other).cap_;
  }
  auto state() const { return cap_; }

 private:
  float cap_;
};

class CappedRows : public mx::Primitive {
 public:
  explicit CappedRows(mx::Stream stream, float cap) : mx::Primitive(stream), cap_(cap) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  void eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;

  const char* name() const override { return "CappedRows"; }

 private:
  float cap_;
};

}  // namespace my_ops
