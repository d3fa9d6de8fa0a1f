// The group of all processes, which is made once.
#include "mlx/distributed/distributed.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "mlx/distributed/backend.h"
#include "mlx/distributed/ring/ring.h"
#include "mlx/errors.h"

namespace mlx::core::distributed {

namespace {

constexpr std::array kBackends{"any", "mpi", "nccl", "jaccl", "ring"};

[[noreturn]] void cannot_be_strict(const std::string& backend) {
  if (backend == "any") {
    throw std::runtime_error(
        "[distributed] No backend is available: strict=True cannot be met. The variables MLX_RANK "
        "and MLX_HOSTFILE of the environment, which mlx.launch sets, are not both there.");
  }
  throw std::runtime_error("[distributed] No backend is available that is called \"" + backend +
                           "\": strict=True cannot be met. Use \"ring\".");
}

}  // namespace

int Group::rank() const { return backend_ ? backend_->rank() : 0; }
int Group::size() const { return backend_ ? backend_->size() : 1; }

Group Group::split(int color, int key) const {
  if (!backend_) {
    throw std::runtime_error("[distributed] A group of one process cannot be split.");
  }
  return Group(backend_->split(color, key));
}

bool is_available(const std::string& backend) { return backend == "any" || backend == "ring"; }

Group init(bool strict, const std::string& backend) {
  if (std::find(kBackends.begin(), kBackends.end(), backend) == kBackends.end()) {
    invalid_argument("distributed",
                     "The backend must be \"any\", \"mpi\", \"nccl\", \"jaccl\" or "
                     "\"ring\", not \"" +
                         backend + "\".");
  }
  if (is_available(backend)) {
    if (auto connected = ring::connected()) return Group(std::move(connected));
    if (auto environment = ring::environment(strict && backend == "ring")) {
      return Group(ring::connect_all(*environment));
    }
  }
  if (strict) cannot_be_strict(backend);
  return Group();
}

void leave_groups() { ring::leave(); }

}  // namespace mlx::core::distributed
