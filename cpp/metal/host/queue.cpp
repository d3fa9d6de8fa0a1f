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
const int fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

uint32_t fork_count() { return forks.load(); }

namespace host {
namespace {

// Command buffers that have started and not completed.
constexpr size_t kMaxStarted = 64;

// On an asynchronous stream, so long a queue's own thread leaves it to others to complete command
// buffers. Threads that alternate in this, and release each other's memory, take twice the time.
constexpr auto kPatience = std::chrono::microseconds(200);

// Kernels round in the same way, whatever rounding mode a program has set for its threads.
class DefaultFloats {
 public:
#if defined(__x86_64__)  // fesetenv does more, and takes as long as a small kernel
  DefaultFloats() {
    __asm__ volatile("fnstcw %0" : "=m"(x87_before_));
    set(0x1f80, kX87Modes);  // round to nearest, no traps
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
  static constexpr uint16_t kX87Modes = 0x37f;

  void set(unsigned modes, uint16_t x87_modes) const {
    _mm_setcsr(modes);
    if (x87_before_ != kX87Modes) __asm__ volatile("fldcw %0" : : "m"(x87_modes));
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

  // What a thread may do next with a command buffer. On an asynchronous stream, buffers start while
  // those ahead of them still run, as far as they may overlap.
  enum class Step { None, Start, Complete, Execute };

  struct Work {
    Step step = Step::None;
    Buffer buffer;
  };

  explicit State(Driver& driver) : stream(driver.new_stream()) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Buffer> pending;
  std::deque<Buffer> started;       // and not completed
  std::atomic<bool> wanted{false};  // the queue's own thread shall do what is left
  bool urgent = false;              // and at once
  bool busy = false;                // a thread starts a command buffer, or executes it
  bool completing = false;          // a thread waits for the first one started
  bool sleeping = false;            // the queue's own thread
  bool patient = false;             // sleeps for a while only
  bool ended = false;
  bool launched_thread = false;
  // Command buffers that were submitted and have not completed, and work that runs at once. Changed
  // under the mutex.
  std::atomic<size_t> unfinished{0};
  uint64_t completed = 0;                // command buffers
  const uint32_t forks = fork_count();   // when this was created
  const std::unique_ptr<Stream> stream;  // used by the busy thread; others wait for marks

  bool idle() const { return unfinished == 0; }
  bool may_start() const;
  Step next_step(bool only_bounded) const;
  bool has_ended_buffer() const;
  Work take(bool only_bounded);
  Work next();
  bool leaves_to_others(std::unique_lock<std::mutex>& lock);
  void perform(Work work, const std::function<void()>& poll = {});
  void end_step(const Work& work);
  void end_launch();
  static void want_own_thread(const std::shared_ptr<State>& state, bool urgent);
  static void somebody_waits(const std::shared_ptr<State>& state);
  static void run(std::shared_ptr<State> state);
};

// These functions' callers hold the mutex.
bool QueueObject::State::may_start() const {
  if (!stream->is_asynchronous() || busy || pending.empty()) return false;
  return pending.front()->may_overlap() && started.size() < kMaxStarted;
}

QueueObject::State::Step QueueObject::State::next_step(bool only_bounded) const {
  if (may_start()) return Step::Start;
  if (!started.empty()) return completing ? Step::None : Step::Complete;
  if (busy || pending.empty()) return Step::None;
  return only_bounded && !pending.front()->bounded() ? Step::None : Step::Execute;
}

bool QueueObject::State::has_ended_buffer() const {
  return !completing && !started.empty() && started.front()->has_ended(*stream);
}

QueueObject::State::Work QueueObject::State::take(bool only_bounded) {
  Work work{next_step(only_bounded), {}};
  switch (work.step) {
    case Step::None:
      break;
    case Step::Complete:
      work.buffer = started.front();
      completing = true;
      break;
    case Step::Start:
    case Step::Execute:
      work.buffer = std::move(pending.front());
      pending.pop_front();
      busy = true;
  }
  return work;
}

void QueueObject::State::end_step(const Work& work) {
  if (work.step == Step::Complete) {
    started.pop_front();
    completing = false;
    ++completed;
  } else {
    busy = false;
    if (work.step == Step::Start) started.push_back(work.buffer);
  }
  if (work.step != Step::Start) --unfinished;
  if (idle()) wanted = urgent = false;
  if (sleeping && wanted) changed.notify_one();
}

void QueueObject::State::end_launch() {
  const std::lock_guard lock(mutex);
  end_step({Step::Execute, {}});
}

void QueueObject::State::want_own_thread(const std::shared_ptr<State>& state, bool urgent) {
  state->wanted = true;
  state->urgent |= urgent;
  if (!state->launched_thread) {
    state->launched_thread = true;
    std::thread(&State::run, state).detach();
  } else if (state->sleeping || (urgent && state->patient)) {
    state->changed.notify_one();
  }
}

// Only on an asynchronous stream does a thread that is wanted take its time.
void QueueObject::State::somebody_waits(const std::shared_ptr<State>& state) {
  const bool comes = state->wanted && (state->urgent || !state->stream->is_asynchronous());
  if (!state->idle() && !comes) want_own_thread(state, true);
}

// No step when the queue has ended.
QueueObject::State::Work QueueObject::State::next() {
  spin_until([this] { return wanted.load(); });
  std::unique_lock lock(mutex);
  do {
    sleeping = true;
    changed.wait(lock, [this] { return ended || (wanted && next_step(false) != Step::None); });
    sleeping = false;
  } while (leaves_to_others(lock));
  return take(false);
}

// Returns true after a while in which another thread has completed command buffers. What has to
// start or to run does not wait.
bool QueueObject::State::leaves_to_others(std::unique_lock<std::mutex>& lock) {
  const auto waits = [this] { return !ended && !urgent && pending.empty() && !started.empty(); };
  if (!stream->is_asynchronous() || !waits()) return false;
  const uint64_t before = completed;
  patient = true;
  changed.wait_for(lock, kPatience, [&] { return !waits(); });
  patient = false;
  return !ended && (completed != before || next_step(false) == Step::None);
}

void QueueObject::State::perform(Work work, const std::function<void()>& poll) {
  {
    const InUse in_use;
    const DefaultFloats floats;
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    if (work.step != Step::Complete) work.buffer->start(*stream, poll);
    if (work.step != Step::Start) work.buffer->complete(*stream, poll);
    const std::lock_guard lock(mutex);
    end_step(work);
  }
  // Only now: a thread that waited may commit its next command buffer at once, and runs it itself
  // if the queue is idle.
  if (work.step != Step::Start) work.buffer->wake_waiting_threads();
  work.buffer.reset();  // may end the queue
}

void QueueObject::State::run(std::shared_ptr<State> state) {
  pthread_setname_np(pthread_self(), "metal queue");
  for (Work work = state->next(); work.step != Step::None; work = state->next())
    state->perform(std::move(work));
}

QueueObject::QueueObject(MTL::Device* device, Driver& driver)
    : device_(device), driver_(driver), state_(new State(driver)) {}

// Every command buffer retains its queue, so nothing is pending.
QueueObject::~QueueObject() {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->changed.notify_one();
}

MTL::CommandBuffer* QueueObject::newCommandBuffer() { return new CommandBufferObject(this); }

MTL::CommandBuffer* QueueObject::commandBuffer() { return newCommandBuffer()->autorelease(); }

bool QueueObject::isIdle() const {
  if (state_->forks != fork_count()) return true;  // what was committed runs in the parent
  return state_->idle();
}

bool QueueObject::run_now(const std::function<void(Stream&)>& work) {
  State& state = *state_;
  if (default_driver().device_memory() || state.stream->is_asynchronous()) return false;
  if (state.forks != fork_count()) return false;
  {
    const std::lock_guard lock(state.mutex);
    if (!state.idle()) return false;
    state.busy = true;
    ++state.unfinished;
  }
  struct End {
    State& state;
    ~End() { state.end_launch(); }
  } const end{state};
  const InUse in_use;
  const DefaultFloats floats;
  InUse::check();
  work(*state.stream);
  return true;
}

void QueueObject::runUntil(const std::function<bool()>& done, const std::function<void()>& poll) {
  const auto state = state_;  // the last buffer may own the queue
  if (state->forks != fork_count()) return;
  Poll polls{poll};
  while (!polls.thrown && !done()) {
    State::Work work;
    {
      const std::lock_guard lock(state->mutex);
      work = state->take(true);
    }
    if (work.step == State::Step::None) break;
    state->perform(std::move(work), std::ref(polls));
  }
  {
    const std::lock_guard lock(state->mutex);
    State::somebody_waits(state);
  }
  if (polls.thrown) std::rethrow_exception(polls.thrown);
}

void QueueObject::completeSoon() {
  if (state_->forks != fork_count()) return;
  const std::lock_guard lock(state_->mutex);
  State::somebody_waits(state_);
}

void QueueObject::submit(CommandBufferObject* buffer, MTL::NextCall next) {
  if (state_->forks != fork_count()) {  // the queue starts anew in the child
    // The parent's state is never destroyed: threads that this process does not have may have
    // locked it.
    new std::shared_ptr<State>(std::exchange(state_, std::make_shared<State>(driver_)));
  }
  const auto state = state_;
  std::unique_lock lock(state->mutex);
  const bool runs_next = state->idle();
  state->pending.push_back(NS::RetainPtr(buffer));
  ++state->unfinished;
  while (state->may_start() || (next != MTL::NextCall::Wait && state->has_ended_buffer())) {
    State::Work work = state->take(false);
    lock.unlock();
    state->perform(std::move(work));
    lock.lock();
  }
  if (state->stream->is_asynchronous()) {
    // Who waits, or commits again, completes what has started.
    const bool urgent = !state->pending.empty();
    if (next == MTL::NextCall::Other || urgent) State::want_own_thread(state, urgent);
  } else if (next != MTL::NextCall::Wait || !runs_next || !buffer->bounded()) {
    State::want_own_thread(state, false);
  }
}

}  // namespace host
}  // namespace metal
