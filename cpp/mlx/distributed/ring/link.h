// Link: the connections of a process with one neighbour, as one stream of bytes in each direction.
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "mlx/distributed/ring/socket.h"

namespace mlx::core::distributed::ring {

class Link {
 public:
  Link(int neighbour, std::vector<Socket> sockets)
      : neighbour_(neighbour), sockets_(std::move(sockets)) {}

  int neighbour() const { return neighbour_; }

  // Sends what is possible now, and returns how many bytes. The neighbour may be lost then: what it
  // sent before tells why, so that the caller looks at that first.
  size_t send(const iovec* parts, int count);
  bool can_send() const { return !send_ended_; }
  [[noreturn]] void fail_as_lost() const;
  // Returns how many bytes have arrived. Throws std::runtime_error if the neighbour is lost.
  size_t receive(char* to, size_t size);

  // Keeps what has arrived for a later receive, so that a neighbour who sends need not wait.
  void keep_arrived();
  bool can_arrive() const { return !ended_; }

  // What to wait for before the next send or receive.
  pollfd sendable() const { return {socket(sent_).descriptor(), POLLOUT, 0}; }
  pollfd receivable() const { return {socket(received_).descriptor(), POLLIN, 0}; }

  void shut_down() const;
  // Closes this process's ends only.
  void close() { sockets_.clear(); }

 private:
  const Socket& socket(uint64_t position) const;
  size_t until_next_socket(uint64_t position) const;
  size_t receive_now(char* to, size_t size);

  int neighbour_;
  std::vector<Socket> sockets_;
  uint64_t sent_ = 0, received_ = 0;  // bytes
  bool ended_ = false, send_ended_ = false;
  std::vector<char> kept_;
  size_t taken_ = 0;  // of those
};

}  // namespace mlx::core::distributed::ring
