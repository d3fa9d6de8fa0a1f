// The ring's operations, by the algorithms of Patarasuk and Yuan (2009), "Bandwidth optimal
// all-reduce algorithms for clusters of workstations". An array is divided into a part for each
// process. In each step a process passes a part on to the next one while it gets another from the
// previous one; nothing waits for the end of a step, since bytes are passed on as they arrive.
#include "mlx/distributed/ring/ring.h"

#include <poll.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "mlx/distributed/ring/failure.h"
#include "mlx/distributed/ring/link.h"
#include "mlx/distributed/ring/meet.h"
#include "mlx/distributed/ring/transfer.h"
#include "mlx/interrupt.h"

namespace mlx::core::distributed::ring {

namespace {

class Ring : public Backend {
 public:
  Ring(const Environment& environment, Neighbours neighbours)
      : rank_(environment.rank),
        size_(environment.size()),
        stream_(new_process_stream(Device::cpu)),
        previous_(rank_of(rank_ - 1), std::move(neighbours.previous)),
        next_(rank_of(rank_ + 1), std::move(neighbours.next)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Stream stream() const override { return stream_; }

  std::shared_ptr<Backend> split(int, int) override { fail("A ring cannot be split."); }

  void check_peer(const char* op, int other) const override {
    if (other == next_.neighbour() || other == previous_.neighbour()) return;
    const int before = previous_.neighbour(), behind = next_.neighbour();
    throw std::runtime_error("[" + std::string(op) + "] In a ring, rank " + std::to_string(rank_) +
                             " is connected with " + std::to_string(before) +
                             (before == behind ? "" : " and " + std::to_string(behind)) +
                             " only, not with rank " + std::to_string(other) + ".");
  }

  void all_reduce(Reduction reduction, Dtype dtype, const char* in, char* out, size_t count,
                  const Interruption& interruption) override {
    constexpr std::array kOperations{Operation::all_sum, Operation::all_max, Operation::all_min};
    Transfer transfer({kOperations[static_cast<int>(reduction)], dtype.val(), count});
    const auto begin = [&](int part) { return count * part / size_ * dtype.size(); };
    const auto bytes = [&](int part) { return begin(part + 1) - begin(part); };
    transfer.pass_on_after(bytes(rank_));
    for (int step = 0; step < 2 * (size_ - 1); ++step) {
      const int given = rank_of(rank_ - step), got = rank_of(rank_ - step - 1);
      transfer.send((step == 0 ? in : out) + begin(given), bytes(given));
      if (step < size_ - 1) {
        transfer.combine(reduction, in + begin(got), out + begin(got), bytes(got));
      } else {
        transfer.receive(out + begin(got), bytes(got));
      }
    }
    run(transfer, &next_, &previous_, interruption);
  }

  void all_gather(Dtype dtype, const char* in, char* out, size_t count,
                  const Interruption& interruption) override {
    Transfer transfer({Operation::all_gather, dtype.val(), count});
    const size_t bytes = count * dtype.size();
    transfer.pass_on_after(bytes);
    for (int step = 0; step < size_ - 1; ++step) {
      transfer.send(step == 0 ? in : out + rank_of(rank_ - step) * bytes, bytes);
      transfer.receive(out + rank_of(rank_ - step - 1) * bytes, bytes);
    }
    run(transfer, &next_, &previous_, interruption);
    if (bytes > 0) std::memcpy(out + rank_ * bytes, in, bytes);
  }

  // The first half of all_reduce, in which the last part to arrive is this process's.
  void sum_scatter(Dtype dtype, const char* in, char* partial, char* out, size_t count,
                   const Interruption& interruption) override {
    Transfer transfer({Operation::sum_scatter, dtype.val(), count});
    const size_t bytes = count * dtype.size();
    transfer.pass_on_after(bytes);
    for (int step = 0; step < size_ - 1; ++step) {
      const int given = rank_of(rank_ - step - 1), got = rank_of(rank_ - step - 2);
      transfer.send((step == 0 ? in : partial) + given * bytes, bytes);
      transfer.combine(Reduction::sum, in + got * bytes, got == rank_ ? out : partial + got * bytes,
                       bytes);
    }
    run(transfer, &next_, &previous_, interruption);
  }

  // Two processes are connected twice: messages then go the same way as other data.
  void send(Dtype dtype, const char* in, size_t count, int to,
            const Interruption& interruption) override {
    Transfer transfer({Operation::message, dtype.val(), count});
    transfer.send(in, count * dtype.size());
    run(transfer, to == next_.neighbour() ? &next_ : &previous_, nullptr, interruption);
  }

  void receive(Dtype dtype, char* out, size_t count, int from,
               const Interruption& interruption) override {
    Transfer transfer({Operation::message, dtype.val(), count});
    transfer.receive(out, count * dtype.size());
    run(transfer, nullptr, from == previous_.neighbour() ? &previous_ : &next_, interruption);
  }

  // Without the mutex: a thread that the child does not have may hold it.
  void leave() {
    left_ = true;
    previous_.close();
    next_.close();
  }

 private:
  int rank_of(int number) const { return (number + 2 * size_) % size_; }

  // After a failure the bytes of the connections mean nothing any more. They are ended, so that
  // the neighbours fail as well instead of waiting, and theirs.
  void run(Transfer& transfer, Link* to, Link* from, const Interruption& interruption) {
    if (left_) fail("A process that was forked has no part in the ring of its parent.");
    if (!failure_.empty()) fail("The ring cannot be used any more after an error: " + failure_);
    try {
      transfer.run(to, from, [&](bool sends, bool receives) {
        wait(sends ? to : nullptr, receives ? from : nullptr, interruption);
      });
    } catch (const std::exception& error) {
      failure_ = error.what();
      previous_.shut_down();
      next_.shut_down();
      throw;
    }
  }

  // Data that nobody here waits for is kept: its sender may have to go on before this process does.
  void wait(const Link* to, const Link* from, const Interruption& interruption) {
    std::array<pollfd, 3> wanted;
    std::array<Link*, 3> keeps{};
    int count = 0;
    if (to) wanted[count++] = to->sendable();
    if (from) wanted[count++] = from->receivable();
    for (Link* link : {&previous_, &next_}) {
      if (link == from || !link->can_arrive()) continue;
      keeps[count] = link;
      wanted[count++] = link->receivable();
    }
    poll(wanted.data(), count, static_cast<int>(WaitPoll::interval.count()));
    if (interruption.has_happened()) fail("The communication was interrupted.");
    for (int i = 0; i < count; ++i) {
      if (keeps[i] && wanted[i].revents) keeps[i]->keep_arrived();
    }
  }

  const int rank_, size_;
  const Stream stream_;
  Link previous_, next_;
  std::string failure_;
  std::atomic<bool> left_{false};
};

// Never destroyed: the group's stream may use it until the process ends.
std::atomic<std::shared_ptr<Ring>*> the_ring{nullptr};

}  // namespace

std::shared_ptr<Backend> connected() {
  auto* ring = the_ring.load();
  return ring ? *ring : nullptr;
}

std::shared_ptr<Backend> connect_all(const Environment& environment) {
  if (environment.size() == 1) return nullptr;
  wait_unlocked([&] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (!the_ring) {
      the_ring = new std::shared_ptr(std::make_shared<Ring>(environment, meet(environment)));
    }
  });
  return connected();
}

void leave() {
  if (auto* ring = the_ring.load()) (*ring)->leave();
}

}  // namespace mlx::core::distributed::ring
