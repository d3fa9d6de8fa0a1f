// Several connections take turns, with a stripe of bytes each. Both ends count the same bytes, so
// they agree on whose turn it is. A stripe fits into a connection's buffers: while a process works
// on one, the others are under way.
#include "mlx/distributed/ring/link.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "mlx/distributed/ring/failure.h"

namespace mlx::core::distributed::ring {

namespace {
constexpr uint64_t kStripe = 64 << 10;
}

const Socket& Link::socket(uint64_t position) const {
  return sockets_[position / kStripe % sockets_.size()];
}

size_t Link::until_next_socket(uint64_t position) const {
  if (sockets_.size() == 1) return std::numeric_limits<size_t>::max();
  return kStripe - position % kStripe;
}

void Link::fail_as_lost() const {
  fail("The connection with " + process(neighbour_) + " has ended: it has failed or finished.");
}

size_t Link::send(const iovec* parts, int count) {
  std::array<iovec, 8> now;
  size_t room = until_next_socket(sent_);
  int n = 0;
  for (; n < count && n < static_cast<int>(now.size()) && room > 0; ++n) {
    now[n] = {parts[n].iov_base, std::min(parts[n].iov_len, room)};
    room -= now[n].iov_len;
  }
  const auto progress = socket(sent_).send(now.data(), n);
  send_ended_ = progress.ended;
  sent_ += progress.bytes;
  return progress.bytes;
}

size_t Link::receive(char* to, size_t size) {
  if (taken_ < kept_.size()) {
    size = std::min(size, kept_.size() - taken_);
    std::memcpy(to, kept_.data() + taken_, size);
    taken_ += size;
    if (taken_ == kept_.size()) {
      kept_ = {};
      taken_ = 0;
    }
    return size;
  }
  const size_t got = receive_now(to, size);
  if (ended_) fail_as_lost();
  return got;
}

size_t Link::receive_now(char* to, size_t size) {
  if (ended_) return 0;
  const auto progress = socket(received_).receive(to, std::min(size, until_next_socket(received_)));
  ended_ = progress.ended;
  received_ += progress.bytes;
  return progress.bytes;
}

void Link::keep_arrived() {
  constexpr size_t kPiece = 256 << 10;
  for (;;) {
    const size_t before = kept_.size();
    kept_.resize(before + kPiece);
    const size_t got = receive_now(kept_.data() + before, kPiece);
    kept_.resize(before + got);
    if (got == 0) return;
  }
}

void Link::shut_down() const {
  for (const Socket& socket : sockets_) socket.shut_down();
}

}  // namespace mlx::core::distributed::ring
