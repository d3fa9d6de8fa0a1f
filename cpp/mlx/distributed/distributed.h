// Groups of processes that compute together. No back end that connects processes is included: a
// group has one process.
#pragma once

#include <string>

namespace mlx::core::distributed {

class Group {
 public:
  int rank() const { return 0; }  // of this process
  int size() const { return 1; }
  // Returns the group of the processes with the same color, ordered by their keys. A group of one
  // process cannot be split.
  Group split(int color, int key = -1) const;
};

// Whether a back end is available: "mpi", "ring", "nccl", "jaccl", or "any" of them.
bool is_available(const std::string& backend = "any");

// Returns the group of all processes. Without a back end it has this process only; with `strict`
// that is an error.
Group init(bool strict = false, const std::string& backend = "any");

}  // namespace mlx::core::distributed
