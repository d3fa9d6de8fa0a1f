// Every process listens first, so that connecting to the next one needs no call of it. Both ends
// then say who they are, since any program may have the port of another.
#include "mlx/distributed/ring/meet.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include "mlx/distributed/ring/failure.h"
#include "mlx/interrupt.h"

namespace mlx::core::distributed::ring {

namespace {

using Clock = std::chrono::steady_clock;

// What both ends of a new connection send. All machines have the same order of bytes.
struct Greeting {
  char protocol[8] = {'m', 'l', 'x', 'r', 'i', 'n', 'g', '1'};
  int32_t rank = 0;
  int32_t size = 0;
  int32_t connection = 0;  // the number of the address
};

class Meeting {
 public:
  explicit Meeting(const Environment& environment)
      : environment_(environment), deadline_(Clock::now() + environment.time_limit) {}

  Neighbours run() {
    const auto& own = environment_.hosts[environment_.rank];
    std::vector<Socket> listeners;
    for (const Address& address : own) {
      tell("listens on " + address.text());
      listeners.push_back(listen(address));
    }
    Neighbours met;
    for (const Address& address : environment_.hosts[next()]) {
      met.next.push_back(connect_to(address));
      greet(met.next.back(), met.next.size() - 1);
    }
    for (size_t i = 0; i < own.size(); ++i) {
      met.previous.push_back(accept_from(listeners[i], own[i], i));
      greet(met.previous.back(), i);
    }
    for (size_t i = 0; i < met.next.size(); ++i) {
      check_next(met.next[i], environment_.hosts[next()][i], i);
    }
    return met;
  }

 private:
  int next() const { return (environment_.rank + 1) % environment_.size(); }
  int previous() const {
    return (environment_.rank + environment_.size() - 1) % environment_.size();
  }

  void tell(const std::string& what) const {
    if (!environment_.verbose) return;
    std::fprintf(stderr, "[ring] Rank %d %s.\n", environment_.rank, what.c_str());
  }

  bool late() const { return Clock::now() >= deadline_; }

  std::string within() const {
    return " within " + std::to_string(environment_.time_limit.count()) +
           " seconds (MLX_RING_TIMEOUT)";
  }

  static void poll_thread() {
    if (auto& poll = WaitPoll::current()) poll();
  }

  // Waits for a short time until `descriptor` can be read.
  static void wait_readable(const Socket& socket) {
    pollfd wanted{socket.descriptor(), POLLIN, 0};
    poll(&wanted, 1, static_cast<int>(WaitPoll::interval.count()));
    poll_thread();
  }

  Socket connect_to(const Address& address) const {
    tell("connects to " + process(next()) + " at " + address.text());
    for (;;) {
      if (auto socket = connect(address, WaitPoll::interval)) return std::move(*socket);
      if (late()) {
        fail("Nobody listens at " + address.text() + ", the address of " + process(next()) + "," +
             within() + ". Has it been started?");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      poll_thread();
    }
  }

  void greet(const Socket& socket, size_t connection) const {
    Greeting greeting;
    greeting.rank = environment_.rank;
    greeting.size = environment_.size();
    greeting.connection = static_cast<int32_t>(connection);
    const iovec part{&greeting, sizeof greeting};
    socket.send(&part, 1);  // a new connection has room for it; one that has ended is noticed later
  }

  // Returns whether the other end has greeted like a process of a ring before the connection ended
  // or `until`.
  static bool receive_greeting(const Socket& socket, Greeting& greeting, Clock::time_point until) {
    size_t got = 0;
    while (got < sizeof greeting) {
      const auto progress =
          socket.receive(reinterpret_cast<char*>(&greeting) + got, sizeof greeting - got);
      if (progress.ended || (progress.bytes == 0 && Clock::now() >= until)) return false;
      got += progress.bytes;
      if (progress.bytes == 0) wait_readable(socket);
    }
    return std::memcmp(greeting.protocol, Greeting().protocol, sizeof greeting.protocol) == 0;
  }

  void check(const Greeting& greeting, int rank, size_t connection, const Address& where) const {
    if (greeting.rank == rank && greeting.size == environment_.size() &&
        greeting.connection == static_cast<int32_t>(connection)) {
      return;
    }
    fail("At " + where.text() + " " + process(rank) + " of " + std::to_string(environment_.size()) +
         " was expected, but there is rank " + std::to_string(greeting.rank) + " of " +
         std::to_string(greeting.size) +
         ". Do all processes have the same file of hosts, and each its own MLX_RANK?");
  }

  Socket accept_from(const Socket& listener, const Address& own, size_t connection) const {
    constexpr auto kPatience = std::chrono::seconds(2);  // with those who are silent
    for (;;) {
      if (auto socket = accept(listener)) {
        Greeting greeting;
        if (receive_greeting(*socket, greeting, Clock::now() + kPatience)) {
          check(greeting, previous(), connection, own);
          return std::move(*socket);
        }
        continue;  // some other program
      }
      if (late()) {
        fail("Nobody has connected to " + own.text() + ": " + process(previous()) +
             " has not come" + within() + ".");
      }
      wait_readable(listener);
    }
  }

  void check_next(const Socket& socket, const Address& address, size_t connection) const {
    Greeting greeting;
    if (!receive_greeting(socket, greeting, deadline_)) {
      fail("What listens at " + address.text() + " does not answer like " + process(next()) +
           within() + ". It has ended, or another program has this port.");
    }
    check(greeting, next(), connection, address);
  }

  const Environment& environment_;
  const Clock::time_point deadline_;
};

}  // namespace

Neighbours meet(const Environment& environment) { return Meeting(environment).run(); }

}  // namespace mlx::core::distributed::ring
