// Event: a counter behind a mutex, signaled by the back ends.
#include "mlx/event.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "metal/driver.h"
#include "metal/spin.h"
#include "mlx/backend/metal/eval.h"
#include "mlx/interrupt.h"

namespace mlx::core {

struct Event::State {
  const uint32_t forks = ::metal::fork_count();  // at its creation
  std::mutex mutex;
  std::condition_variable reached;
  std::atomic<uint64_t> value{0};
  std::exception_ptr error;
  std::vector<Event> required;
  std::vector<std::pair<uint64_t, std::shared_ptr<void>>> kept;  // until the value

  void release(uint64_t reached_value);
};

// Called before the value is set: who has waited for it finds no memory held by the event. The
// objects are destroyed after the lock is given up, as their destructors may take others.
void Event::State::release(uint64_t reached_value) {
  std::vector<std::pair<uint64_t, std::shared_ptr<void>>> released;
  std::lock_guard lock(mutex);
  const auto done = std::partition(
      kept.begin(), kept.end(), [&](const auto& object) { return object.first > reached_value; });
  released.assign(std::make_move_iterator(done), std::make_move_iterator(kept.end()));
  kept.erase(done, kept.end());
}

Event::Event(Stream stream) : stream_(stream), state_(std::make_shared<State>()) {}

// The work that was to signal the event exists only in the parent of a forked process.
void Event::refuse_if_lost() const {
  if (state_->forks == ::metal::fork_count() || is_signaled()) return;
  throw std::runtime_error(
      "[eval] This process was forked while the array was being computed, which only its parent "
      "goes on with: evaluate arrays before the fork.");
}

void Event::wait() const {
  refuse_if_lost();
  auto signaled = [this] { return is_signaled(); };
  metal::help(stream_, signaled);
  ::metal::spin_until(signaled);
  std::unique_lock lock(state_->mutex);
  auto reached = [this] { return state_->value >= value_; };
  if (auto& poll = WaitPoll::current()) {
    while (!state_->reached.wait_for(lock, WaitPoll::interval, reached)) {
      lock.unlock();
      poll();
      lock.lock();
    }
  }
  state_->reached.wait(lock, reached);
  if (state_->error) {
    std::rethrow_exception(state_->error);
  }
}

bool Event::is_signaled() const { return state_->value >= value_; }

void Event::wait(Stream stream) const {
  refuse_if_lost();
  metal::wait(stream, *this);
}

void Event::signal(Stream stream, bool caller_waits) const {
  metal::signal(stream, *this, caller_waits);
}

void Event::require(const Event& other) const {
  if (other.state_ == state_ || (other.is_signaled() && !other.error())) return;
  std::lock_guard lock(state_->mutex);
  state_->required.push_back(other);
}

void Event::keep(std::shared_ptr<void> object) const {
  std::lock_guard lock(state_->mutex);
  state_->kept.emplace_back(value_, std::move(object));
}

void Event::notify(std::exception_ptr error) const {
  std::vector<Event> required;
  {
    std::lock_guard lock(state_->mutex);
    required.swap(state_->required);
  }
  state_->release(value_);
  std::erase_if(required, [&error](const Event& other) {
    if (!error) error = other.error();
    return other.is_signaled();
  });
  {
    std::lock_guard lock(state_->mutex);
    state_->required.insert(state_->required.end(), required.begin(), required.end());
    if (error) {  // a thread that sees the value must see the error
      state_->error = error;
    }
    state_->value = std::max(state_->value.load(), value_);
  }
  state_->reached.notify_all();
}

std::exception_ptr Event::error() const {
  std::lock_guard lock(state_->mutex);
  return state_->error;
}

}  // namespace mlx::core
