// Groups of processes that compute together. No engine that connects processes is here: a group has
// one process.
#pragma once

#include <string>

namespace mlx::core::distributed {

class Group {
 public:
  int rank() const { return 0; }  // of this process
  int size() const { return 1; }
  // The group of the processes that give the same color, ordered by their keys. A group of one
  // cannot be split.
  Group split(int color, int key = -1) const;
};

// Whether an engine is here: "mpi", "ring", "nccl", "jaccl", or "any" of them.
bool is_available(const std::string& backend = "any");

// The group of all processes. Without an engine that is this one alone, unless `strict` makes it an
// error.
Group init(bool strict = false, const std::string& backend = "any");

}  // namespace mlx::core::distributed
