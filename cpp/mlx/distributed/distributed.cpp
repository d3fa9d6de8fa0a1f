// The group of one process.
#include "mlx/distributed/distributed.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mlx/errors.h"

namespace mlx::core::distributed {

Group Group::split(int, int) const {
  throw std::runtime_error("[distributed] A group of one process cannot be split.");
}

bool is_available(const std::string&) { return false; }

Group init(bool strict, const std::string& backend) {
  constexpr std::array kBackends{"any", "mpi", "nccl", "jaccl", "ring"};
  if (std::find(kBackends.begin(), kBackends.end(), backend) == kBackends.end()) {
    invalid_argument("distributed",
                     "The backend must be \"any\", \"mpi\", \"nccl\", \"jaccl\" or "
                     "\"ring\", not \"" +
                         backend + "\".");
  }
  if (strict) {
    throw std::runtime_error("[distributed] No backend is available: strict=True cannot be met.");
  }
  return Group();
}

}  // namespace mlx::core::distributed
