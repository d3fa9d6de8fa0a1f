// The nodes of the operations. In a group of one process, collective operations return their input.
#include "mlx/distributed/ops.h"

#include "mlx/distributed/primitives.h"
#include "mlx/errors.h"

namespace mlx::core::distributed {

namespace {

std::shared_ptr<Backend> backend_of(const std::optional<Group>& group) {
  return group ? group->backend() : init().backend();
}

array all_reduce(Reduction reduction, const array& x, const std::optional<Group>& group) {
  const auto backend = backend_of(group);
  if (!backend) return x;
  return array(x.shape(), x.dtype(), std::make_shared<AllReduce>(backend, reduction), {x});
}

// A node whose shape the primitive knows.
template <typename P>
array shaped(const array& x, const std::shared_ptr<Backend>& backend) {
  auto primitive = std::make_shared<P>(backend);
  Shape shape = primitive->output_shapes({x})[0];
  return array(std::move(shape), x.dtype(), std::move(primitive), {x});
}

// Returns the back end for messages with the process of a rank.
std::shared_ptr<Backend> backend_with_peer(const char* op, const char* what, int other,
                                           const std::optional<Group>& group) {
  auto backend = backend_of(group);
  if (!backend) {
    invalid_argument(
        op, message("Rank ", other, " cannot be ", what, ": the group has one process, this one."));
  }
  if (other < 0 || other >= backend->size()) {
    invalid_argument(op, message("Rank ", other, " cannot be ", what,
                                 ": the group has ranks from 0 to ", backend->size() - 1, "."));
  }
  backend->check_peer(op, other);
  return backend;
}

}  // namespace

array all_sum(const array& x, std::optional<Group> group, StreamOrDevice) {
  return all_reduce(Reduction::sum, x, group);
}
array all_max(const array& x, std::optional<Group> group, StreamOrDevice) {
  return all_reduce(Reduction::max, x, group);
}
array all_min(const array& x, std::optional<Group> group, StreamOrDevice) {
  return all_reduce(Reduction::min, x, group);
}

array all_gather(const array& x, std::optional<Group> group, StreamOrDevice) {
  const auto backend = backend_of(group);
  return backend ? shaped<AllGather>(x, backend) : x;
}

array sum_scatter(const array& x, std::optional<Group> group, StreamOrDevice) {
  const auto backend = backend_of(group);
  return backend ? shaped<SumScatter>(x, backend) : x;
}

array send(const array& x, int dst, std::optional<Group> group, StreamOrDevice) {
  const auto backend = backend_with_peer("send", "sent to", dst, group);
  return array(x.shape(), x.dtype(), std::make_shared<Send>(backend, dst), {x});
}

array recv(const Shape& shape, Dtype dtype, int src, std::optional<Group> group, StreamOrDevice) {
  const auto backend = backend_with_peer("recv", "received from", src, group);
  for (int length : shape) {
    if (length < 0)
      invalid_argument("recv", message("The shape ", shape, " has a negative length."));
  }
  return array(shape, dtype, std::make_shared<Recv>(backend, src), {});
}

array recv_like(const array& x, int src, std::optional<Group> group, StreamOrDevice s) {
  return recv(x.shape(), x.dtype(), src, group, s);
}

}  // namespace mlx::core::distributed
