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
  int rank;                                 // MLX_RANK, of this process
  std::vector<std::vector<Address>> hosts;  // MLX_HOSTFILE: where each process listens
  bool verbose;                             // MLX_RING_VERBOSE: tell about connections
  std::chrono::seconds time_limit;          // MLX_RING_TIMEOUT: for connecting; 60 by default

  int size() const { return static_cast<int>(hosts.size()); }
};

// Reads the variables; nothing if there are not both MLX_RANK and MLX_HOSTFILE, which is an error
// if they are `required`. Throws std::runtime_error for values that make no sense.
std::optional<Environment> environment(bool required);

// Reads a file as for MLX_HOSTFILE: JSON, a list with a list of "host:port" for each process.
std::vector<std::vector<Address>> read_hosts(const std::string& path);

}  // namespace mlx::core::distributed::ring
