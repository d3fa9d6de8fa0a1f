// Primitives that only affect the graph: their outputs are their inputs.
#pragma once

#include <functional>
#include <optional>

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// A view of its input that stops gradients.
class StopGradient : public UnaryPrimitive {
 public:
  explicit StopGradient(Stream stream) : UnaryPrimitive(stream) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(StopGradient)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_INPUT_OUTPUT_SHAPE()
};

// Outputs are views of the first inputs, made after all inputs are evaluated.
class Depends : public Primitive {
 public:
  explicit Depends(Stream stream) : Primitive(stream) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Depends)
  // The shapes of all inputs: only the node knows the number of outputs.
  DEFINE_OUTPUT_SHAPES()
};

// inputs: a function's arguments, then its outputs; the primitive's outputs are views of the
// latter. Transformations use the custom rules instead of those of the operations in the function.
class CustomTransforms : public Primitive {
 public:
  using Vjp = std::function<std::vector<array>(const std::vector<array>& primals,
                                               const std::vector<array>& cotangents,
                                               const std::vector<array>& outputs)>;
  using Jvp = std::function<std::vector<array>(const std::vector<array>& primals,
                                               const std::vector<array>& tangents,
                                               const std::vector<int>& argnums)>;
  using Vmap = std::function<std::pair<std::vector<array>, std::vector<int>>(
      const std::vector<array>& inputs, const std::vector<int>& axes)>;

  explicit CustomTransforms(Stream stream, int num_outputs, Vjp vjp_fun, Jvp jvp_fun, Vmap vmap_fun)
      : Primitive(stream),
        num_outputs_(num_outputs),
        vjp_fun_(std::move(vjp_fun)),
        jvp_fun_(std::move(jvp_fun)),
        vmap_fun_(std::move(vmap_fun)) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(CustomTransforms)
  DEFINE_OUTPUT_SHAPES()

  int num_outputs() const { return num_outputs_; }

 private:
  int num_outputs_;
  Vjp vjp_fun_;
  Jvp jvp_fun_;
  Vmap vmap_fun_;
};

}  // namespace mlx::core
