// The errors of the ring.
#pragma once

#include <stdexcept>
#include <string>

namespace mlx::core::distributed::ring {

[[noreturn]] inline void fail(const std::string& message) {
  throw std::runtime_error("[ring] " + message);
}

// "the process of rank 1"
inline std::string process(int rank) { return "the process of rank " + std::to_string(rank); }

}  // namespace mlx::core::distributed::ring
