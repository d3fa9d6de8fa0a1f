// A command queue and the threads that run its command buffers: its own thread, and waiting
// threads, which run bounded ones.
#include "metal/host/queue.h"

#include <pthread.h>

#include <atomic>
#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "metal/driver.h"
#include "metal/host/command_buffer.h"
#include "metal/process_end.h"
#include "metal/spin.h"

namespace metal {
namespace {

std::atomic<uint32_t> forks{0};

}  // namespace

uint32_t fork_count() { return forks.load(); }

namespace host {
namespace {

void watch_process() {
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, [] { ++forks; });
    return true;
  }();
  (void)once;
}

// Kernels round in the same way, whatever rounding mode a program has set for its threads.
class DefaultFloats {
 public:
#if defined(__x86_64__)  // fesetenv does more, and takes as long as a small kernel
  DefaultFloats() {
    __asm__ volatile("fnstcw %0" : "=m"(x87_before_));
    set(0x1f80, 0x37f);  // round to nearest, no traps
  }
  ~DefaultFloats() { set(before_, x87_before_); }
#else
  DefaultFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before_); }
#endif
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
#if defined(__x86_64__)
  static void set(unsigned modes, uint16_t x87_modes) {
    _mm_setcsr(modes);
    __asm__ volatile("fldcw %0" : : "m"(x87_modes));
  }

  unsigned before_ = _mm_getcsr();
  uint16_t x87_before_;
#else
  std::fenv_t before_;
#endif
};

// Calls a waiting thread's `poll` from time to time while it runs a command buffer. An exception of
// `poll` is kept until the buffer has ended.
struct Poll {
  const std::function<void()>& poll;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  std::exception_ptr thrown = nullptr;

  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (!poll || thrown || now - last < kPollInterval) return;
    last = now;
    try {
      poll();
    } catch (...) {
      thrown = std::current_exception();
    }
  }
};

}  // namespace

struct QueueObject::State {
  using Buffer = NS::SharedPtr<CommandBufferObject>;

  explicit State(Driver& driver) : stream(driver.new_stream()) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Buffer> pending;
  std::atomic<bool> wanted{false};  // the queue's own thread shall run what is pending
  bool busy = false;                // a thread runs a command buffer
  bool sleeping = false;            // the queue's own thread
  bool ended = false;
  bool started = false;
  const uint32_t forks = fork_count();   // when this was created
  const std::unique_ptr<Stream> stream;  // used by the busy thread

  // Exists while a thread runs a command buffer. The destructor wakes the queue's thread for the
  // next one.
  struct Execution {
    State& state;
    const InUse in_use{};
    explicit Execution(State& s) : state(s) {}
    ~Execution() {
      const std::lock_guard lock(state.mutex);
      state.busy = false;
      if (state.sleeping && state.wanted) state.changed.notify_one();
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
  };

  Buffer pop();
  Buffer next();
  Buffer next_bounded();
  void execute(Buffer buffer, const std::function<void()>& poll = {});
  static void want_own_thread(const std::shared_ptr<State>& state);
  static void run(std::shared_ptr<State> state);
};

// The caller holds the mutex. It is busy from here on.
QueueObject::State::Buffer QueueObject::State::pop() {
  auto buffer = std::move(pending.front());
  pending.pop_front();
  if (pending.empty()) wanted = false;
  busy = true;
  return buffer;
}

// Null when the queue has ended.
QueueObject::State::Buffer QueueObject::State::next() {
  spin_until([this] { return wanted.load(); });
  std::unique_lock lock(mutex);
  sleeping = true;
  changed.wait(lock, [this] { return !busy && (wanted || ended); });
  sleeping = false;
  return pending.empty() ? nullptr : pop();
}

// Null if a thread is busy, or if the next command buffer is not bounded.
QueueObject::State::Buffer QueueObject::State::next_bounded() {
  std::lock_guard lock(mutex);
  return busy || pending.empty() || !pending.front()->bounded() ? nullptr : pop();
}

void QueueObject::State::execute(Buffer buffer, const std::function<void()>& poll) {
  {
    const Execution execution(*this);
    const DefaultFloats floats;
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    buffer->execute(*stream, poll);
  }
  // Only now: a thread that waited may commit its next command buffer at once, and runs it itself
  // if the queue is idle.
  buffer->wake_waiting_threads();
  buffer.reset();  // may end the queue
}

// The caller holds the mutex.
void QueueObject::State::want_own_thread(const std::shared_ptr<State>& state) {
  state->wanted = true;
  if (!state->started) {
    state->started = true;
    std::thread(&State::run, state).detach();
  } else if (state->sleeping) {
    state->changed.notify_one();
  }
}

void QueueObject::State::run(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "metal queue");
  while (auto buffer = state->next()) state->execute(std::move(buffer));
}

QueueObject::QueueObject(MTL::Device* device, Driver& driver)
    : device_(device), driver_(driver), state_(new State(driver)) {
  watch_process();
}

// Every command buffer retains its queue, so nothing is pending.
QueueObject::~QueueObject() {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->changed.notify_one();
}

MTL::CommandBuffer* QueueObject::newCommandBuffer() { return new CommandBufferObject(this); }

MTL::CommandBuffer* QueueObject::commandBuffer() { return newCommandBuffer()->autorelease(); }

void QueueObject::runUntil(const std::function<bool()>& done, const std::function<void()>& poll) {
  const auto state = state_;  // the last buffer may own the queue
  if (state->forks != fork_count()) return;
  Poll polls{poll};
  while (!polls.thrown && !done()) {
    auto buffer = state->next_bounded();
    if (!buffer) break;
    state->execute(std::move(buffer), std::ref(polls));
  }
  {
    const std::lock_guard lock(state->mutex);
    if (!state->pending.empty() && !state->wanted) State::want_own_thread(state);
  }
  if (polls.thrown) std::rethrow_exception(polls.thrown);
}

void QueueObject::submit(CommandBufferObject* buffer, bool caller_waits) {
  if (state_->forks != fork_count()) {  // the queue starts anew in the child
    // The parent's state is never destroyed: threads that this process does not have may have
    // locked it.
    new std::shared_ptr<State>(std::exchange(state_, std::make_shared<State>(driver_)));
  }
  std::lock_guard lock(state_->mutex);
  state_->pending.push_back(NS::RetainPtr(buffer));
  const bool runs_next = !state_->busy && state_->pending.size() == 1;
  if (!caller_waits || !runs_next || !buffer->bounded()) State::want_own_thread(state_);
}

}  // namespace host
}  // namespace metal
