// Groups of operations that run as one kernel.
#pragma once

#include <memory>
#include <string>

#include "mlx/compile/trace.h"
#include "mlx/primitives/primitive.h"
#include "mlx/primitives/reduce.h"

namespace mlx::core {

class CompiledKernels;
class CompiledReduceKernels;

// The operations of a group, in order. Inputs have one shape, or are scalars (of size 1). Scalar
// constants are part of the kernel, and no inputs. Derivatives are those of the body: see
// transforms/grad.cpp.
class Fused : public Primitive {
 public:
  explicit Fused(Stream stream, Trace body);

  DEFINE_VMAP()
  bool encodes() const override { return true; }
  // "Compiled", then the names of the operations.
  const char* name() const override { return name_.c_str(); }
  DEFINE_OUTPUT_SHAPES()

  const Trace& body() const { return body_; }

 private:
  Trace body_;
  std::string name_;
};

// Elementwise operations, StopGradient, and Broadcast of scalars. All outputs have the shape of the
// inputs that are not scalars.
class Compiled : public Fused {
 public:
  explicit Compiled(Stream stream, Trace body);
  ~Compiled() override;

  DEFINE_EVAL_MULTI()
  bool is_equivalent(const Primitive& other) const override;

 private:
  std::unique_ptr<CompiledKernels> kernels_;
};

// The same with one output, and a Reduce of it at the end.
class CompiledReduce : public Fused {
 public:
  explicit CompiledReduce(Stream stream, Trace body);
  ~CompiledReduce() override;

  DEFINE_EVAL_MULTI()
  bool is_equivalent(const Primitive& other) const override;

 private:
  // With a kernel for the chain, and one for the reduction.
  void run_apart(const std::vector<array>& inputs, std::vector<array>& outputs);

  std::shared_ptr<Reduce> reduce_;
  Compiled chain_;
  std::unique_ptr<CompiledReduceKernels> kernels_;
};

}  // namespace mlx::core
