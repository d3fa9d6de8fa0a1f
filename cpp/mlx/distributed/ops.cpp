// In a group of one process, collective operations return their input.
#include "mlx/distributed/ops.h"

#include "mlx/errors.h"

namespace mlx::core::distributed {

array all_sum(const array& x, std::optional<Group>, StreamOrDevice) { return x; }
array all_max(const array& x, std::optional<Group>, StreamOrDevice) { return x; }
array all_min(const array& x, std::optional<Group>, StreamOrDevice) { return x; }
array all_gather(const array& x, std::optional<Group>, StreamOrDevice) { return x; }
array sum_scatter(const array& x, std::optional<Group>, StreamOrDevice) { return x; }

array send(const array&, int dst, std::optional<Group>, StreamOrDevice) {
  invalid_argument(
      "send", message("Rank ", dst, " cannot be sent to: the group has one process, this one."));
}

array recv(const Shape&, Dtype, int src, std::optional<Group>, StreamOrDevice) {
  invalid_argument("recv", message("Rank ", src,
                                   " cannot be received from: the group has one process, this "
                                   "one."));
}

array recv_like(const array& x, int src, std::optional<Group> group, StreamOrDevice s) {
  return recv(x.shape(), x.dtype(), src, group, s);
}

}  // namespace mlx::core::distributed
