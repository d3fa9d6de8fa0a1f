// For extensions made for MLX: the base of fused operations.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "mlx/primitives/rules.h"

namespace mlx::core::fast {

// A primitive that computes the same as `fallback`, which gives its derivatives and its vmap.
class Custom : public Primitive {
 public:
  explicit Custom(Stream stream, std::function<std::vector<array>(std::vector<array>)> fallback)
      : Primitive(stream), fallback_(std::move(fallback)) {}

  std::vector<array> jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                         const std::vector<int>& argnums) override {
    return jvp_as(fallback_, primals, tangents, argnums);
  }
  std::vector<array> vjp(const std::vector<array>& primals, const std::vector<array>& cotangents,
                         const std::vector<int>& argnums,
                         const std::vector<array>& /*outputs*/) override {
    return detail::vjp(fallback_, primals, cotangents, argnums).second;
  }
  VmapResult vmap(const std::vector<array>& inputs, const std::vector<int>& axes) override {
    return vmap_as(fallback_, inputs, axes);
  }

 protected:
  std::function<std::vector<array>(std::vector<array>)> fallback_;
};

}  // namespace mlx::core::fast
