// Ring: a back end in which each process is connected with two neighbours over TCP.
#pragma once

#include <memory>

#include "mlx/distributed/backend.h"
#include "mlx/distributed/ring/environment.h"

namespace mlx::core::distributed::ring {

// Returns the ring of all processes, which the first call connects; null if there is one process.
// Throws std::runtime_error if the others do not come.
std::shared_ptr<Backend> connect_all(const Environment& environment);
// Returns that ring; null before.
std::shared_ptr<Backend> connected();

// For the child of a fork: it has no part in the ring.
void leave();

}  // namespace mlx::core::distributed::ring
