// Sockets of the system.
#include "mlx/distributed/ring/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "mlx/distributed/ring/failure.h"

namespace mlx::core::distributed::ring {

namespace {

constexpr int kFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

using Resolved = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Resolved resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0) {
    fail("The address " + address.text() + " is not known: " + gai_strerror(error) + ".");
  }
  return {found, &freeaddrinfo};
}

void set_option(const Socket& socket, int level, int option, int value) {
  setsockopt(socket.descriptor(), level, option, &value, sizeof value);
}

// Small messages leave at once, and a machine that has vanished is noticed within two minutes.
void set_up_connection(const Socket& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 6);
}

// The system may choose the port that nobody listens on as that of the caller, who is then
// connected to itself.
bool is_own_end(const Socket& socket) {
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here, other_size = sizeof there;
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&here), &size);
  getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&there), &other_size);
  return size == other_size && std::memcmp(&here, &there, sizeof here) == 0;
}

bool becomes_connected(const Socket& socket, const addrinfo& to, std::chrono::milliseconds limit) {
  if (::connect(socket.descriptor(), to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd wanted{socket.descriptor(), POLLOUT, 0};
  if (poll(&wanted, 1, static_cast<int>(limit.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0;
}

Socket::Progress progress(ssize_t result) {
  if (result >= 0) return {static_cast<size_t>(result), false};
  return {0, errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR};
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Socket::Progress Socket::send(const iovec* parts, int count) const {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = count;
  return progress(::sendmsg(descriptor_, &message, MSG_NOSIGNAL));
}

Socket::Progress Socket::receive(char* to, size_t size) const {
  const ssize_t result = ::recv(descriptor_, to, size, 0);
  if (result == 0 && size > 0) return {0, true};
  return progress(result);
}

void Socket::shut_down() const { shutdown(descriptor_, SHUT_RDWR); }

Socket listen(const Address& address) {
  const auto resolved = resolve(address);
  Socket socket(::socket(resolved->ai_family, kFlags, 0));
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);  // after an earlier program on this port
  if (bind(socket.descriptor(), resolved->ai_addr, resolved->ai_addrlen) != 0 ||
      ::listen(socket.descriptor(), SOMAXCONN) != 0) {
    fail("The address " + address.text() +
         " of this process cannot be listened on: " + std::strerror(errno) + ".");
  }
  return socket;
}

std::optional<Socket> connect(const Address& address, std::chrono::milliseconds limit) {
  const auto resolved = resolve(address);
  for (const addrinfo* to = resolved.get(); to; to = to->ai_next) {
    Socket socket(::socket(to->ai_family, kFlags, 0));
    if (becomes_connected(socket, *to, limit) && !is_own_end(socket)) {
      set_up_connection(socket);
      return socket;
    }
  }
  return std::nullopt;
}

std::optional<Socket> accept(const Socket& listener) {
  Socket socket(accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.descriptor() < 0) return std::nullopt;
  set_up_connection(socket);
  return socket;
}

}  // namespace mlx::core::distributed::ring
