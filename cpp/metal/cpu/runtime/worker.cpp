// A thread that runs threadgroups: its stacks, its threadgroup memory, and what signal handlers
// need to know.
#include "metal/cpu/runtime/worker.h"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "metal/cpu/runtime/additions.h"
#include "metal/cpu/runtime/coverage_run.h"
#include "metal/cpu/runtime/debugged_run.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/group_checks.h"
#include "metal/cpu/runtime/jit.h"
#include "metal/cpu/runtime/ordered_run.h"
#include "metal/cpu/runtime/profiler.h"
#include "metal/cpu/runtime/race_detector.h"
#include "metal/driver.h"

namespace metal::cpu {
namespace {

constexpr size_t kThreadStack = size_t{256} << 10;
constexpr size_t kCarrierStack = size_t{8} << 20;  // vector code has many threads' variables
constexpr size_t kSignalStack = 65536;
// Threadgroup memory and its shadow, which only checked kernels touch, with their margins.
constexpr size_t kThreadgroupMapping =
    kThreadgroupShadow + kMaxThreadgroupMemory + 2 * kThreadgroupMargin;
static_assert(kThreadgroupShadow == kMaxThreadgroupMemory + kThreadgroupMargin);

// Signal handlers read it, so its memory must not be allocated on first use.
__attribute__((tls_model("initial-exec"))) thread_local Worker* this_worker = nullptr;

struct WorkerRegistry {
  std::mutex mutex;
  std::vector<Worker*> workers;
};

// Never destroyed: threads may end after static objects. A forked process has only the thread that
// called fork().
std::atomic<WorkerRegistry*> current_registry{new WorkerRegistry};
const int registry_fork_handler = pthread_atfork(nullptr, nullptr, [] {
  auto* registry = new WorkerRegistry;
  if (this_worker) registry->workers.push_back(this_worker);
  current_registry = registry;
});

WorkerRegistry& worker_registry() { return *current_registry.load(); }

char* map_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(memory);
}

// A signal handler needs a stack when the kernel's own has overflowed.
void* install_signal_stack() {
  stack_t before;
  if (sigaltstack(nullptr, &before) == 0 && !(before.ss_flags & SS_DISABLE)) return nullptr;
  stack_t stack{};
  stack.ss_sp = map_memory(kSignalStack);
  stack.ss_size = kSignalStack;
  sigaltstack(&stack, nullptr);
  return stack.ss_sp;
}

// Cuts a threadgroup at the edge of the grid.
void clip(Group& group) {
  const Launch& launch = *group.launch;
  for (int i = 0; i < 3; ++i) {
    uint32_t size = launch.threads_per_threadgroup[i];
    uint64_t start = static_cast<uint64_t>(group.position[i]) * size;
    group.size[i] =
        static_cast<uint32_t>(std::min<uint64_t>(size, launch.threads_per_grid[i] - start));
  }
}

// Threadgroups are numbered with x fastest.
void place(Group& group, uint64_t number) {
  const uint32_t* count = group.launch->threadgroups_per_grid;
  group.position[0] = static_cast<uint32_t>(number % count[0]);
  group.position[1] = static_cast<uint32_t>(number / count[0] % count[1]);
  group.position[2] = static_cast<uint32_t>(number / count[0] / count[1]);
  clip(group);
}

// Goes to the next threadgroup; after the last one comes the first.
void increase(Group& group) {
  const uint32_t* count = group.launch->threadgroups_per_grid;
  if (group.position[0] + 2 < count[0]) {  // only the last one of a row may have another size
    ++group.position[0];
    return;
  }
  for (int i = 0; i < 3; ++i) {
    if (++group.position[i] < count[i]) break;
    group.position[i] = 0;
  }
  clip(group);
}

// Non-temporal stores are not ordered with others, so a fence must follow them.
void finish_nontemporal_stores() {
#ifdef __x86_64__
  __builtin_ia32_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace

Worker& Worker::current() {
  if (this_worker) return *this_worker;
  thread_local std::unique_ptr<Worker> owner;
  owner = std::make_unique<Worker>();
  return *owner;
}

Worker* Worker::current_or_null() { return this_worker; }

Worker::Worker()
    : scheduler_(*this),
      carriers_(kCarrierStack, &Worker::carrier_body, this),
      thread_fibres_(kThreadStack, &FibreScheduler::fibre_body, &scheduler_),
      thread_(pthread_self()) {
  threadgroup_memory_ = map_memory(kThreadgroupMapping);
  signal_stack_ = install_signal_stack();
  this_worker = this;
  std::lock_guard lock(worker_registry().mutex);
  worker_registry().workers.push_back(this);
}

Worker::~Worker() {
  {
    std::lock_guard lock(worker_registry().mutex);
    std::erase(worker_registry().workers, this);
  }
  this_worker = nullptr;
  munmap(threadgroup_memory_, kThreadgroupMapping);
  if (!signal_stack_) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(signal_stack_, kSignalStack);
}

void Worker::signal_all(const Dispatch& dispatch, int signal) {
  std::lock_guard lock(worker_registry().mutex);
  for (Worker* worker : worker_registry().workers) {
    if (worker->dispatch_.load() == &dispatch) pthread_kill(worker->thread_, signal);
  }
}

void Worker::signal_busy(int signal) {
  std::lock_guard lock(worker_registry().mutex);
  for (Worker* worker : worker_registry().workers) {
    if (worker->dispatch_.load()) pthread_kill(worker->thread_, signal);
  }
}

void Worker::run(Dispatch& dispatch, uint64_t first, uint64_t last) {
  if (!dispatch.profiled()) [[likely]]
    return run_threadgroups(dispatch, first, last);
  const auto start = Profiler::Clock::now();
  run_threadgroups(dispatch, first, last);
  Profiler::instance().add_part(dispatch.profiled(), start, next_ - first);
}

void Worker::run_threadgroups(Dispatch& dispatch, uint64_t first, uint64_t last) {
  // Either the thread that stops the dispatch sees this store, or the code below sees the stop.
  dispatch_.store(&dispatch);
  next_ = first;
  last_ = last;
  group_.launch = &dispatch.launch();
  group_.memory = threadgroup_memory_ + kThreadgroupMargin;
  group_.scheduler = &scheduler_;
  group_.additions = &additions_;
  group_.histories = histories_;
  start_additions(additions_, !dispatch.shares_results());
  place(group_, dispatch.order()[first]);
  while (next_ < last_ && !dispatch.stopped()) {
    if (needs_fibres(dispatch.code(group_))) {
      run_as_fibres();
    } else {
      run_directly();
    }
  }
  if (!dispatch.stopped()) make_additions(additions_);
  if (!group_.launch->cached_stores) finish_nontemporal_stores();
  dispatch_.store(nullptr, std::memory_order_release);
}

// Threads that wait for others need stacks of their own.
bool Worker::needs_fibres(const CpuCode& code) const {
  return code.has_barriers && code.granularity == Granularity::Thread;
}

// Runs threadgroups whose threads do not wait for each other on one fibre, whose stack has a guard
// page. It stops at the first threadgroup that needs more fibres.
void Worker::run_directly() {
  Fibre* carrier = carriers_.acquire();
  if (!carrier) return stop_without_stacks();
  set_fibre(carrier);
  switch_context(&main_, carrier->context());
  if (fault_.kind == Fault::None) {
    carriers_.release(carrier);
    return;
  }
  Dispatch& dispatch = *dispatch_.load();
  const CpuCode& code = dispatch.code(group_);
  if (code.granularity == Granularity::Group && !code.records_thread)
    group_.thread = kUnknownThread;
  dispatch.fail(std::exchange(fault_, Fault{}), group_);
  carriers_.reset_all();
}

void Worker::carrier_body(Fibre* self) {
  auto& worker = *static_cast<Worker*>(self->owner());
  for (;;) {
    const Dispatch& dispatch = *worker.dispatch_.load(std::memory_order_relaxed);
    const bool checked = dispatch.checks() != kNoChecks;
    for (; worker.next_ < worker.last_ && !dispatch.stopped(); worker.advance()) {
      const CpuCode& code = dispatch.code(worker.group_);
      if (worker.needs_fibres(code)) break;
      worker.announce_next(code);
      if (checked) worker.begin_checks();
      worker.enter_kernel();
      if (code.granularity == Granularity::Group) {
        worker.run_group(code);
      } else {
        worker.run_threads(code);
      }
      end_threadgroup(worker.additions_);
      worker.leave_kernel();
      if (checked) worker.end_checks();
    }
    switch_context(self->context(), &worker.main_);
  }
}

// Runs this threadgroup, perhaps with the next ones as one longer threadgroup.
void Worker::run_group(const CpuCode& code) {
  const uint64_t joined = neighbours_to_join(code);
  if (joined == 1) {
    code.entry(&group_, 0);
    return;
  }
  Group row = group_;
  row.size[0] *= static_cast<uint32_t>(joined);
  row.next = &row;
  code.entry(&row, 0);
  next_ += joined - 1;
  group_.position[0] += static_cast<uint32_t>(joined - 1);
}

// How many threadgroups run as one, this one included. The threads of a row take turns in an
// interchanged loop, so a longer row accesses memory in longer pieces. Joining those of a chunk,
// not all of the grid, leaves the last chunks as small as the balance of the cores needs them.
// Threads may run in any threadgroup where groups are coarsened. The last one of a row may have
// another size and stays alone.
uint64_t Worker::neighbours_to_join(const CpuCode& code) const {
  const Dispatch& dispatch = *dispatch_.load(std::memory_order_relaxed);
  if (!code.interchanges || !dispatch.joins_groups()) return 1;
  const Launch& launch = *group_.launch;
  const uint64_t before_last = launch.threadgroups_per_grid[0] - 1 - group_.position[0];
  return std::max<uint64_t>(
      std::min({before_last, last_ - next_, uint64_t{kMaxJoinedRow / group_.size[0]}}), 1);
}

void Worker::run_threads(const CpuCode& code) {
  const uint32_t threads = thread_count();
  for (uint32_t thread = 0; thread < threads; ++thread) {
    group_.thread = thread;
    code.entry(&group_, thread);
  }
}

void Worker::run_as_fibres() {
  Dispatch& dispatch = *dispatch_.load();
  for (; next_ < last_ && !dispatch.stopped(); advance()) {
    const CpuCode& code = dispatch.code(group_);
    if (!needs_fibres(code)) return;
    if (dispatch.checks()) begin_checks();
    OrderedRun* ordered = dispatch.ordered();
    scheduler_.run(group_, code.entry, thread_count(), thread_fibres_,
                   ordered && ordered->schedule ? &*ordered->schedule : nullptr);
    if (fault_.kind == Fault::None) {
      if (dispatch.checks()) end_checks();
      continue;
    }
    group_.thread = scheduler_.thread();
    dispatch.fail(std::exchange(fault_, Fault{}), group_);
    thread_fibres_.reset_all();
    return;
  }
}

void Worker::begin_checks() {
  const Dispatch& dispatch = *dispatch_.load(std::memory_order_relaxed);
  if (dispatch.shadows())  // nobody has written there
    std::memset(group_.memory + kThreadgroupShadow, UINT8_MAX, dispatch.threadgroup_memory());
  if (OrderedRun* ordered = dispatch.ordered()) {
    // Whatever another threadgroup left there is chance.
    std::memset(group_.memory, 0, dispatch.threadgroup_memory());
    ordered->sums.start_threadgroup();
    return;
  }
  if (dispatch.screens()) {
    std::ranges::fill(histories_, 0);
    return;
  }
  if (!checks_) checks_ = std::make_unique<GroupChecks>();
  checks_->begin(group_, *dispatch.findings(), dispatch.checks() & kCheckBarriers);
  if (dispatch.races()) dispatch.races()->start_threadgroup(group_);
  if (dispatch.coverage()) dispatch.coverage()->start_threadgroup(thread_count());
  if (dispatch.debugged()) dispatch.debugged()->start_threadgroup(thread_count());
}

void Worker::end_checks() {
  const Dispatch& dispatch = *dispatch_.load(std::memory_order_relaxed);
  if (dispatch.findings()) checks_->end();
  if (dispatch.coverage()) dispatch.coverage()->end_threadgroup();
}

void Worker::enter_kernel() {
  in_kernel_.store(true, std::memory_order_relaxed);
  // From here on a stop signal takes the worker out of the kernel. Check for a stop whose signal
  // came before, so that this thread knows of it. ThreadSanitizer has a lock for loads that are not
  // relaxed, which a signal now would leave locked.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!dispatch_.load(std::memory_order_relaxed)->stopped(std::memory_order_relaxed)) [[likely]]
    return;
  prepare_leave({.kind = Fault::Stopped});
  leave(this);
}

void Worker::stop(const std::string& reason) { dispatch_.load()->stop(LaunchFault::Trap, reason); }

void Worker::stop_without_stacks() {
  stop(
      "The kernel was stopped: the system has no memory, or no memory mappings, left for the "
      "stacks "
      "of its threads (Linux allows vm.max_map_count mappings)");
}

void Worker::leave(Worker* worker) { abandon_context(worker->fibre()->context(), &worker->main_); }

uint32_t Worker::thread_count() const { return group_.size[0] * group_.size[1] * group_.size[2]; }

// Goes to the `index`-th threadgroup from the one before it.
void Worker::step(Group& group, uint64_t index) const {
  const ThreadgroupOrder& order = dispatch_.load(std::memory_order_relaxed)->order();
  if (order.natural()) {
    increase(group);
  } else {
    place(group, order[index]);
  }
}

void Worker::advance() { step(group_, ++next_); }

void Worker::announce_next(const CpuCode& code) {
  group_.next = &group_;
  if (!code.prefetches || next_ + 1 >= last_) return;
  next_group_ = group_;
  step(next_group_, next_ + 1);
  if (std::ranges::equal(next_group_.size, group_.size)) group_.next = &next_group_;
}

}  // namespace metal::cpu
