// grid_sample: samples pictures at any points, with derivatives of every order.
#pragma once

#include <string>

#include "mlx/ops.h"
#include "mlx/primitives.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Samples pictures x (N, H, W, C) at points grid (N, H', W', 2), whose coordinates (column, row)
// are -1 and 1 at the edges. The result is (N, H', W', C). mode: bilinear, nearest, bicubic.
// padding_mode, for points outside: zeros, border, reflection. align_corners: -1 and 1 are the
// centres of the outermost pixels instead of their outer edges.
mx::array grid_sample(const mx::array& x, const mx::array& grid,
                      const std::string& mode = "bilinear",
                      const std::string& padding_mode = "zeros", bool align_corners = false,
                      mx::StreamOrDevice s = {});

// How the pixels around a point are weighted. The values are function constants of the kernels.
struct Sampling {
  enum Mode { Bilinear, Nearest, Bicubic };
  enum Padding { Zeros, Border, Reflection };

  int mode = Bilinear;
  int padding = Zeros;
  bool align_corners = false;
  // Order of the derivative with respect to the grid's coordinates.
  int column_order = 0;
  int row_order = 0;

  Sampling by_column() const;
  Sampling by_row() const;
  // Whether all weights are zero: the interpolating polynomial has no derivative of that order.
  bool vanishes() const;
  bool operator==(const Sampling&) const = default;
};

// The base of the primitives below.
class SamplingPrimitive : public mx::Primitive {
 public:
  SamplingPrimitive(mx::Stream stream, const Sampling& how) : mx::Primitive(stream), how_(how) {}

  // Both devices run the same kernels.
  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    eval_gpu(inputs, outputs);
  }
  bool encodes() const override { return true; }
  bool is_equivalent(const mx::Primitive& other) const override {
    return how_ == static_cast<const SamplingPrimitive&>(other).how_;
  }
  // Merges the mapped axis with the batch.
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override;

 protected:
  virtual std::vector<mx::array> apply(const std::vector<mx::array>& inputs) = 0;

  Sampling how_;
};

#define MLX_SAMPLE_RULES(Name)                                                                   \
  void eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override; \
  std::vector<mx::array> jvp(const std::vector<mx::array>& primals,                              \
                             const std::vector<mx::array>& tangents,                             \
                             const std::vector<int>& argnums) override;                          \
  std::vector<mx::array> vjp(                                                                    \
      const std::vector<mx::array>& primals, const std::vector<mx::array>& cotangents,           \
      const std::vector<int>& argnums, const std::vector<mx::array>& outputs) override;          \
  const char* name() const override { return #Name; }                                            \
                                                                                                 \
 protected:                                                                                      \
  std::vector<mx::array> apply(const std::vector<mx::array>& inputs) override;

// (x, grid): weighted sums of the pixels around each point.
class GridSample : public SamplingPrimitive {
 public:
  using SamplingPrimitive::SamplingPrimitive;
  MLX_SAMPLE_RULES(GridSample)
};

// (values, grid): the adjoint, which adds each point's values to the pixels around it. The result
// is always float32.
class GridSpread : public SamplingPrimitive {
 public:
  GridSpread(mx::Stream stream, const Sampling& how, int height, int width)
      : SamplingPrimitive(stream, how), height_(height), width_(width) {}
  bool is_equivalent(const mx::Primitive& other) const override;
  MLX_SAMPLE_RULES(GridSpread)

 private:
  int height_;
  int width_;
};

// (x, grid, cotangent): both gradients of GridSample in one kernel. The gradient of x is float32.
class GridSampleGradient : public SamplingPrimitive {
 public:
  using SamplingPrimitive::SamplingPrimitive;
  MLX_SAMPLE_RULES(GridSampleGradient)
};

#undef MLX_SAMPLE_RULES

}  // namespace mlx_sample
