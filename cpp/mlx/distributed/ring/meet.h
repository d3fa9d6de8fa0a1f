// Connects a process with its neighbours in the ring when the processes start.
#pragma once

#include <vector>

#include "mlx/distributed/ring/environment.h"
#include "mlx/distributed/ring/socket.h"

namespace mlx::core::distributed::ring {

// The process before this one, of rank - 1, connects to this one, and this one to the next.
struct Neighbours {
  std::vector<Socket> previous, next;  // a connection for each address of the process that listens
};

// Waits for the neighbours to start. Throws std::runtime_error at the time limit, or if another
// program or a process of another ring is there. Calls the thread's WaitPoll meanwhile.
Neighbours meet(const Environment& environment);

}  // namespace mlx::core::distributed::ring
