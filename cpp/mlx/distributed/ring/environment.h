// What the environment says about the ring.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace mlx::core::distributed::ring {

struct Address {
  std::string host, port;
  std::string text() const { return host + ":" + port; }
};

struct Environment {
  int rank;  // MLX_RANK, of this process
  // MLX_HOSTFILE, a JSON file with a list of "host:port" for each process: where it listens.
  std::vector<std::vector<Address>> hosts;
  bool verbose;                     // MLX_RING_VERBOSE: tell about connections
  std::chrono::seconds time_limit;  // MLX_RING_TIMEOUT: for connecting; 60 by default

  int size() const { return static_cast<int>(hosts.size()); }
};

// Reads the variables; nothing if there are not both MLX_RANK and MLX_HOSTFILE, which is an error
// if they are `required`. Throws std::runtime_error for values that make no sense.
std::optional<Environment> environment(bool required);

}  // namespace mlx::core::distributed::ring
