// Groups of processes that compute together.
#pragma once

#include <memory>
#include <string>
#include <utility>

namespace mlx::core::distributed {

class Backend;

// A group of one process has no back end.
class Group {
 public:
  explicit Group(std::shared_ptr<Backend> backend = nullptr) : backend_(std::move(backend)) {}

  int rank() const;  // of this process
  int size() const;
  // Returns the group of the processes with the same color, ordered by their keys. Neither a group
  // of one process nor a ring can be split.
  Group split(int color, int key = -1) const;

  const std::shared_ptr<Backend>& backend() const { return backend_; }

 private:
  std::shared_ptr<Backend> backend_;
};

// Whether a back end is available: "mpi", "ring", "nccl", "jaccl", or "any" of them. "ring" is.
bool is_available(const std::string& backend = "any");

// Returns the group of all processes. They are connected by the first call that finds the variables
// of the environment that describe a ring (ring/environment.h); otherwise the group has this
// process only. With `strict` that is an error.
Group init(bool strict = false, const std::string& backend = "any");

// For the child of a fork: the connections are its parent's.
void leave_groups();

}  // namespace mlx::core::distributed
