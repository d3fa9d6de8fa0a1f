// One thread sends and receives in turn, as much as is possible at once.
#include "mlx/distributed/ring/transfer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "mlx/distributed/combine.h"
#include "mlx/distributed/ring/failure.h"
#include "mlx/dtype_utils.h"

namespace mlx::core::distributed::ring {

namespace {

// What arrives to be combined stays in the core's cache until then.
constexpr size_t kScratch = 256 << 10;
// So much is sent or received before the other direction has its turn.
constexpr size_t kTurn = 512 << 10;

}  // namespace

std::string text(const Header& header) {
  constexpr std::array kNames{"a message", "all_sum",    "all_max",
                              "all_min",   "all_gather", "sum_scatter"};
  const auto operation = static_cast<size_t>(header.operation);
  if (operation >= kNames.size() || header.dtype > Dtype::Val::complex64) {
    return "something unknown";
  }
  return kNames[operation] + (" of " + std::to_string(header.count)) + " elements of " +
         dtype_to_string(dtype_of(header.dtype));
}

Transfer::Transfer(const Header& header)
    : header_(header), item_size_(dtype_of(header.dtype).size()) {
  send(reinterpret_cast<const char*>(&header_), sizeof header_);
  receive(reinterpret_cast<char*>(&received_header_), sizeof received_header_);
}

void Transfer::run(Link* to, Link* from, const std::function<void(bool, bool)>& wait) {
  if (!to) outgoing_.clear();
  if (!from) incoming_.clear();
  skip_finished();
  while (!has_sent_all() || !has_received_all()) {
    const bool sends = !has_sent_all() && may_send() > 0;
    const bool lost = sends && !to->can_send();  // maybe because of an error that has a reason
    // The own header goes first, so that both sides can tell what the other does.
    const bool receives = !has_received_all() && (!to || sent_ >= sizeof header_ || lost);
    bool progress = receives && receive_some(*from);
    if (!progress && lost) to->fail_as_lost();
    progress |= sends && !lost && send_some(*to);
    if (!progress && !(sends && !to->can_send())) wait(sends, receives);
  }
}

// Both headers have the same size, so they need no account of their own: the bytes behind the own
// ones are as many as those that have arrived.
size_t Transfer::may_send() const {
  if (own_ == SIZE_MAX) return SIZE_MAX;
  return own_ + std::max(arrived_, sizeof header_) - sent_;
}

bool Transfer::send_some(Link& to) {
  std::array<iovec, 8> parts;
  size_t room = std::min(may_send(), kTurn);
  int count = 0;
  for (size_t part = out_part_, done = out_done_; part < outgoing_.size(); ++part, done = 0) {
    if (room == 0 || count == static_cast<int>(parts.size())) break;
    const size_t size = std::min(outgoing_[part].size - done, room);
    parts[count++] = {const_cast<char*>(outgoing_[part].from) + done, size};
    room -= size;
  }
  const size_t bytes = to.send(parts.data(), count);
  sent_ += bytes;
  out_done_ += bytes;
  skip_finished();
  return bytes > 0;
}

bool Transfer::receive_some(Link& from) {
  const Incoming& part = incoming_[in_part_];
  const size_t bytes =
      part.own ? receive_to_combine(from, part)
               : from.receive(part.to + in_done_, std::min(part.size - in_done_, kTurn));
  if (bytes == 0) return false;
  if (!part.own) {
    arrived_ += bytes;
    in_done_ += bytes;
  }
  const bool was_header = in_part_ == 0;
  skip_finished();
  if (was_header && in_part_ > 0) check_header(from);
  return true;
}

// Returns how many bytes have arrived; those of whole elements are combined.
size_t Transfer::receive_to_combine(Link& from, const Incoming& part) {
  scratch_.resize(kScratch);
  const size_t left = part.size - in_done_ - in_scratch_;
  const size_t bytes =
      from.receive(scratch_.data() + in_scratch_, std::min(left, kScratch - in_scratch_));
  in_scratch_ += bytes;
  const size_t count = in_scratch_ / item_size_, whole = count * item_size_;
  distributed::combine(reduction_, dtype_of(header_.dtype), part.own + in_done_, scratch_.data(),
                       part.to + in_done_, count);
  in_scratch_ -= whole;
  std::memmove(scratch_.data(), scratch_.data() + whole, in_scratch_);
  arrived_ += whole;
  in_done_ += whole;
  return bytes;
}

void Transfer::check_header(const Link& from) const {
  if (received_header_ == header_) return;
  fail("This process does " + text(header_) + ", but " + process(from.neighbour()) + " does " +
       text(received_header_) +
       ": all processes must evaluate the same operations, in the same order.");
}

// Goes on to the next parts that are not empty.
void Transfer::skip_finished() {
  while (out_part_ < outgoing_.size() && out_done_ >= outgoing_[out_part_].size) {
    out_done_ -= outgoing_[out_part_++].size;
  }
  while (in_part_ < incoming_.size() && in_done_ >= incoming_[in_part_].size) {
    in_done_ -= incoming_[in_part_++].size;
  }
}

}  // namespace mlx::core::distributed::ring
