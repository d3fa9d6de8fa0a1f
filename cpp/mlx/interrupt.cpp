// The poll function of each thread. The Metal runtime implements interruption.
#include "mlx/interrupt.h"

#include <atomic>
#include <utility>

#include "metal/driver.h"
#include "metal/process_end.h"

namespace mlx::core {

namespace {
thread_local const std::function<void()>* thread_poll = nullptr;

std::atomic<void (*)(const std::function<void()>&)> around_waits{nullptr};
}  // namespace

void interrupt() { ::metal::interrupt(); }
Interruption::Interruption() : before_(::metal::interrupt_count()) {}
bool Interruption::has_happened() const { return ::metal::interrupt_count() != before_; }

void end_work() { ::metal::end_use(); }

WaitPoll::WaitPoll(std::function<void()> poll)
    : poll_(std::move(poll)), previous_(std::exchange(thread_poll, &poll_)) {}
WaitPoll::~WaitPoll() { thread_poll = previous_; }
const std::function<void()>& WaitPoll::current() {
  static const std::function<void()> none;
  return thread_poll ? *thread_poll : none;
}

void set_around_waits(void (*around)(const std::function<void()>& wait)) { around_waits = around; }

void wait_unlocked(const std::function<void()>& wait) {
  auto* around = around_waits.load();
  around ? around(wait) : wait();
}

}  // namespace mlx::core
