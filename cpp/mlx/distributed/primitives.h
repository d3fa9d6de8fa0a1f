// The primitives of groups of several processes. All run on their group's stream. None is
// equivalent to another: each evaluation communicates, in all processes alike.
#pragma once

#include <memory>
#include <utility>

#include "mlx/distributed/backend.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core::distributed {

class Communication : public UnaryPrimitive {
 public:
  explicit Communication(std::shared_ptr<Backend> backend)
      : UnaryPrimitive(backend->stream()), backend_(std::move(backend)) {}
  bool encodes() const override { return true; }

 protected:
  Backend& backend() const { return *backend_; }
  const std::shared_ptr<Backend>& shared_backend() const { return backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

class AllReduce : public Communication {
 public:
  AllReduce(std::shared_ptr<Backend> backend, Reduction reduction)
      : Communication(std::move(backend)), reduction_(reduction) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_INPUT_OUTPUT_SHAPE()
  const char* name() const override;

 private:
  array again(const array& x) const;  // the same reduction
  Reduction reduction_;
};

// A number without axes counts as an array of one element.
class AllGather : public Communication {
 public:
  using Communication::Communication;
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(AllGather)
  DEFINE_OUTPUT_SHAPES()
};

class SumScatter : public Communication {
 public:
  using Communication::Communication;
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(SumScatter)
  DEFINE_OUTPUT_SHAPES()
};

// The output is the input; it is sent when the output is evaluated.
class Send : public Communication {
 public:
  Send(std::shared_ptr<Backend> backend, int to) : Communication(std::move(backend)), to_(to) {}
  DEFINE_EVAL()
  DEFINE_VMAP()
  DEFINE_NAME(Send)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  int to_;
};

// No inputs.
class Recv : public Communication {
 public:
  Recv(std::shared_ptr<Backend> backend, int from)
      : Communication(std::move(backend)), from_(from) {}
  DEFINE_EVAL()
  DEFINE_NAME(Recv)

 private:
  int from_;
};

}  // namespace mlx::core::distributed
