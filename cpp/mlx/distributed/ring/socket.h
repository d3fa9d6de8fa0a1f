// TCP sockets that never block: those who use them wait with poll().
#pragma once

#include <poll.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mlx/distributed/ring/environment.h"

namespace mlx::core::distributed::ring {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int descriptor() const { return descriptor_; }

  // What a call could do: so many bytes, maybe none, unless the connection has ended.
  struct Progress {
    size_t bytes = 0;
    bool ended = false;
  };
  Progress send(const iovec* parts, int count) const;
  Progress receive(char* to, size_t size) const;
  // Ends the connection for both sides.
  void shut_down() const;

 private:
  int descriptor_;
};

// Throws std::runtime_error if the address cannot be listened on.
Socket listen(const Address& address);
// Returns nothing if nobody listens there now.
std::optional<Socket> connect(const Address& address, std::chrono::milliseconds limit);
// Returns nothing if nobody has connected.
std::optional<Socket> accept(const Socket& listener);

}  // namespace mlx::core::distributed::ring
