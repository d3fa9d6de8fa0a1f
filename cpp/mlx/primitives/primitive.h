// Primitive: a node's operation, with the rules that evaluate and transform it.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

class Primitive {
 public:
  explicit Primitive(Stream stream) : stream_(stream) {}
  virtual ~Primitive() = default;
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  const Device& device() { return stream_.device; }
  const Stream& stream() const { return stream_; }

  // Compute the outputs, which have no memory yet: allocate it (set_data), or make views.
  virtual void eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) = 0;
  virtual void eval_gpu(const std::vector<array>& inputs, std::vector<array>& outputs) = 0;

  // Whether eval_cpu reads and writes elements only in tasks of the stream's encoder. For other
  // primitives the inputs are computed before eval_cpu is called.
  virtual bool encodes() const { return false; }

  // Tangents of the outputs, given those of the inputs `argnums`.
  virtual std::vector<array> jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums);
  // Cotangents of the inputs `argnums`, given those of the outputs.
  virtual std::vector<array> vjp(const std::vector<array>& primals,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums,
                                 const std::vector<array>& outputs);
  // For operations that take a part of their first input: `sum` plus the cotangent of that input,
  // without an array of zeros around the part. Other operations return nothing.
  virtual std::optional<array> accumulate_vjp(const array& sum, const std::vector<array>& primals,
                                              const array& cotangent);
  // Applies the operation along an additional axis of each input (axes[i] is -1 for an input
  // without it). Returns the outputs, and the position of the axis in each of them.
  virtual std::pair<std::vector<array>, std::vector<int>> vmap(const std::vector<array>& inputs,
                                                               const std::vector<int>& axes);

  virtual const char* name() const;
  virtual void print(std::ostream& os);

  // Whether another primitive of the same class has the same effect.
  virtual bool is_equivalent(const Primitive& other) const;
  // Shapes of the outputs for inputs of other shapes.
  virtual std::vector<Shape> output_shapes(const std::vector<array>& inputs);

 private:
  Stream stream_;
};

// A primitive with one output.
class UnaryPrimitive : public Primitive {
 public:
  using Primitive::Primitive;

  virtual void eval_cpu(const std::vector<array>& inputs, array& output) = 0;
  virtual void eval_gpu(const std::vector<array>& inputs, array& output) = 0;

  void eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) final {
    eval_cpu(inputs, outputs[0]);
  }
  void eval_gpu(const std::vector<array>& inputs, std::vector<array>& outputs) final {
    eval_gpu(inputs, outputs[0]);
  }
};

// Declarations for primitives. The eval functions are defined under backend/, the rules under
// primitives/.
#define DEFINE_EVAL()                                                                         \
  void eval_cpu(const std::vector<mlx::core::array>& inputs, mlx::core::array& out) override; \
  void eval_gpu(const std::vector<mlx::core::array>& inputs, mlx::core::array& out) override;

#define DEFINE_EVAL_MULTI()                                       \
  void eval_cpu(const std::vector<mlx::core::array>& inputs,      \
                std::vector<mlx::core::array>& outputs) override; \
  void eval_gpu(const std::vector<mlx::core::array>& inputs,      \
                std::vector<mlx::core::array>& outputs) override;

#define DEFINE_GRADS()                                                               \
  std::vector<mlx::core::array> jvp(const std::vector<mlx::core::array>& primals,    \
                                    const std::vector<mlx::core::array>& tangents,   \
                                    const std::vector<int>& argnums) override;       \
  std::vector<mlx::core::array> vjp(const std::vector<mlx::core::array>& primals,    \
                                    const std::vector<mlx::core::array>& cotangents, \
                                    const std::vector<int>& argnums,                 \
                                    const std::vector<mlx::core::array>& outputs) override;

#define DEFINE_ACCUMULATE_VJP()                                                                \
  std::optional<mlx::core::array> accumulate_vjp(const mlx::core::array& sum,                  \
                                                 const std::vector<mlx::core::array>& primals, \
                                                 const mlx::core::array& cotangent) override;

#define DEFINE_VMAP()                                              \
  std::pair<std::vector<mlx::core::array>, std::vector<int>> vmap( \
      const std::vector<mlx::core::array>& inputs, const std::vector<int>& axes) override;

#define DEFINE_NAME(PRIMITIVE) \
  const char* name() const override { return #PRIMITIVE; }

#define DEFINE_PRINT(PRIMITIVE) DEFINE_NAME(PRIMITIVE)

#define DEFINE_DEFAULT_IS_EQUIVALENT() \
  bool is_equivalent(const mlx::core::Primitive&) const override { return true; }

// The parameters that make two primitives of the class equivalent.
#define DEFINE_STATE(PRIMITIVE, ...)                                     \
  auto state() const { return std::make_tuple(__VA_ARGS__); }            \
  bool is_equivalent(const mlx::core::Primitive& other) const override { \
    return state() == static_cast<const PRIMITIVE&>(other).state();      \
  }

// The output has the shape of the first input.
#define DEFINE_INPUT_OUTPUT_SHAPE()                                                        \
  std::vector<mlx::core::Shape> output_shapes(const std::vector<mlx::core::array>& inputs) \
      override {                                                                           \
    return {inputs[0].shape()};                                                            \
  }

#define DEFINE_OUTPUT_SHAPES() \
  std::vector<mlx::core::Shape> output_shapes(const std::vector<mlx::core::array>& inputs) override;

}  // namespace mlx::core
