// A command queue and the thread that runs its command buffers.
#include "metal/host/queue.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "metal/driver.h"
#include "metal/host/command_buffer.h"

namespace metal::host {
namespace {

// Waking a thread takes as long as a small kernel runs: stay awake for a moment.
constexpr auto kSpinTime = std::chrono::microseconds(15);

// Threads do not survive fork(): the child starts its own when it needs them.
std::atomic<uint32_t> fork_count{0};

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_count; });
  (void)registered;
}

}  // namespace

struct QueueObject::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<NS::SharedPtr<CommandBufferObject>> pending;
  std::atomic<size_t> count{0};  // of pending
  bool sleeping = false;
  bool ended = false;
  bool started = false;
  uint32_t forks = 0;  // when the thread was started

  NS::SharedPtr<CommandBufferObject> next();
  static void run(std::shared_ptr<State> state);
};

// Null when the queue is gone.
NS::SharedPtr<CommandBufferObject> QueueObject::State::next() {
  auto start = std::chrono::steady_clock::now();
  while (count.load() == 0 && std::chrono::steady_clock::now() - start < kSpinTime) {
  }
  std::unique_lock lock(mutex);
  sleeping = true;
  changed.wait(lock, [this] { return !pending.empty() || ended; });
  sleeping = false;
  if (pending.empty()) return nullptr;
  auto buffer = std::move(pending.front());
  pending.pop_front();
  --count;
  return buffer;
}

void QueueObject::State::run(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "metal queue");
  auto stream = default_driver().new_stream();
  while (auto buffer = state->next()) {
    auto* pool = NS::AutoreleasePool::alloc()->init();
    buffer->execute(*stream);
    pool->drain();
    buffer.reset();  // may end the queue
  }
}

QueueObject::QueueObject(MTL::Device* device) : device_(device), state_(new State) {
  watch_forks();
}

// Nothing is pending: every command buffer keeps its queue.
QueueObject::~QueueObject() {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->changed.notify_one();
}

MTL::CommandBuffer* QueueObject::newCommandBuffer() { return new CommandBufferObject(this); }

MTL::CommandBuffer* QueueObject::commandBuffer() { return newCommandBuffer()->autorelease(); }

void QueueObject::submit(CommandBufferObject* buffer) {
  std::lock_guard lock(state_->mutex);
  state_->pending.push_back(NS::RetainPtr(buffer));
  ++state_->count;
  if (!state_->started || state_->forks != fork_count.load()) {
    state_->started = true;
    state_->sleeping = false;
    state_->forks = fork_count.load();
    std::thread(&State::run, state_).detach();
  } else if (state_->sleeping) {
    state_->changed.notify_one();
  }
}

}  // namespace metal::host
