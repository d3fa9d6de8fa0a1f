// Compiled: a group of elementwise operations that runs as one kernel.
#pragma once

#include <memory>
#include <string>

#include "mlx/compile/trace.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

class CompiledKernels;

// Inputs have the outputs' shape, or are scalars (of size 1). All outputs have one shape.
class Compiled : public Primitive {
 public:
  // The operations, in order: elementwise ones, StopGradient, and Broadcast of scalars. Scalar
  // constants among their inputs are part of the kernel.
  explicit Compiled(Stream stream, Trace body);
  ~Compiled() override;

  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  bool encodes() const override { return true; }
  // "Compiled", then the names of the operations.
  const char* name() const override { return name_.c_str(); }
  bool is_equivalent(const Primitive& other) const override;
  DEFINE_OUTPUT_SHAPES()

  const Trace& body() const { return body_; }

 private:
  Trace body_;
  std::string name_;
  std::unique_ptr<CompiledKernels> kernels_;
};

}  // namespace mlx::core
