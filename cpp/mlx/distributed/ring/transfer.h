// Transfer: what one operation of the ring sends and receives, at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mlx/distributed/backend.h"
#include "mlx/distributed/ring/link.h"

namespace mlx::core::distributed::ring {

enum class Operation : uint32_t { message, all_sum, all_max, all_min, all_gather, sum_scatter };

// What precedes the data of each operation. Both ends compare it, so that processes that do
// different things get an error instead of each other's bytes.
struct Header {
  Operation operation;
  Dtype::Val dtype;
  uint64_t count;  // of elements

  bool operator==(const Header&) const = default;
};
std::string text(const Header& header);

// Sends parts of memory to one neighbour, and receives others from one neighbour.
class Transfer {
 public:
  explicit Transfer(const Header& header);

  void send(const char* from, size_t size) { outgoing_.push_back({from, size}); }
  void receive(char* to, size_t size) { incoming_.push_back({to, nullptr, size}); }
  // What arrives is combined with `own`, and the result goes to `to`.
  void combine(Reduction reduction, const char* own, char* to, size_t size) {
    reduction_ = reduction;
    incoming_.push_back({to, own, size});
  }
  // The first `own` bytes to send are this process's own. Those behind are what arrives, in the
  // same order, and are sent when it has arrived.
  void pass_on_after(size_t own) { own_ = own; }

  // Either link may be null. `wait(sends, receives)` returns when one of these may be possible.
  void run(Link* to, Link* from, const std::function<void(bool, bool)>& wait);

 private:
  struct Outgoing {
    const char* from;
    size_t size;
  };
  struct Incoming {
    char* to;
    const char* own;
    size_t size;
  };

  bool has_sent_all() const { return out_part_ == outgoing_.size(); }
  bool has_received_all() const { return in_part_ == incoming_.size(); }
  size_t may_send() const;
  bool send_some(Link& to);
  bool receive_some(Link& from);
  size_t receive_to_combine(Link& from, const Incoming& part);
  void check_header(const Link& from) const;
  void skip_finished();

  const Header header_;
  Header received_header_{};
  const size_t item_size_;
  Reduction reduction_ = Reduction::sum;
  size_t own_ = SIZE_MAX;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  size_t out_part_ = 0, out_done_ = 0;  // the current part, and how much of it is done
  size_t in_part_ = 0, in_done_ = 0;
  size_t sent_ = 0, arrived_ = 0;  // bytes of all parts, with the headers
  std::vector<char> scratch_;      // what has arrived and is not yet combined
  size_t in_scratch_ = 0;
};

}  // namespace mlx::core::distributed::ring
