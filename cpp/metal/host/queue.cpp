// A command queue and the thread that runs its command buffers.
#include "metal/host/queue.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "metal/driver.h"
#include "metal/host/command_buffer.h"
#include "metal/spin.h"

namespace metal::host {
namespace {

// Threads do not survive fork(): a queue of the child starts anew.
std::atomic<uint32_t> fork_count{0};

std::atomic<int> executing{0};  // command buffers, on all queues

// Nothing may run any more when the libraries below us are taken down.
void stop_at_exit() {
  if (executing.load() == 0) return;
  interrupt();
  for (int i = 0; i < 1000 && executing.load() > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void watch_process() {
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, [] {
      ++fork_count;
      executing = 0;
    });
    std::atexit(stop_at_exit);
    return true;
  }();
  (void)once;
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
  const uint32_t forks = fork_count.load();  // when it was made

  NS::SharedPtr<CommandBufferObject> next();
  static void run(std::shared_ptr<State> state);
};

// Null when the queue is gone.
NS::SharedPtr<CommandBufferObject> QueueObject::State::next() {
  spin_until([this] { return count.load() > 0; });
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
    ++executing;
    buffer->execute(*stream);
    --executing;
    pool->drain();
    buffer.reset();  // may end the queue
  }
}

QueueObject::QueueObject(MTL::Device* device) : device_(device), state_(new State) {
  watch_process();
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
  if (state_->forks != fork_count.load()) {
    // The parent's state may be locked or waited for by threads that this process does not have.
    new std::shared_ptr<State>(std::exchange(state_, std::make_shared<State>()));
  }
  std::lock_guard lock(state_->mutex);
  state_->pending.push_back(NS::RetainPtr(buffer));
  ++state_->count;
  if (!state_->started) {
    state_->started = true;
    std::thread(&State::run, state_).detach();
  } else if (state_->sleeping) {
    state_->changed.notify_one();
  }
}

}  // namespace metal::host
