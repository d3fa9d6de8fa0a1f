// A thread that runs threadgroups: its stacks, its threadgroup memory, and what signal handlers
// need to know.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/fibre.h"
#include "metal/cpu/runtime/fibre_scheduler.h"
#include "metal/driver.h"

namespace metal::cpu {

class Dispatch;
class GroupChecks;
struct CpuCode;

// Why kernel code was aborted. A signal handler fills it, so it has plain values only.
struct Fault {
  enum Kind : uint32_t { None, Signal, StackOverflow, Stopped };
  enum Access : uint32_t { Unknown, Read, Write };
  Kind kind = None;
  int signal = 0;
  int code = 0;
  const void* address = nullptr;
  Access access = Unknown;
  const void* stack = nullptr;  // the stack that the code ran on
  size_t stack_size = 0;
};

class Worker {
 public:
  static Worker& current();          // this thread's; created by the first call
  static Worker* current_or_null();  // can be called in a signal handler
  static void signal_all(const Dispatch& dispatch, int signal);  // to threads that run it
  static void signal_busy(int signal);                           // to threads that run any

  // Runs the dispatch's threadgroups [first, last), in the dispatch's order. Returns early if the
  // dispatch stops.
  void run(Dispatch& dispatch, uint64_t first, uint64_t last);

  // To be called around kernel code. Entering does not return if the dispatch has been stopped.
  void enter_kernel();
  void leave_kernel() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_kernel_.store(false, std::memory_order_relaxed);
  }

  GroupChecks& group_checks() { return *checks_; }  // while checked kernels run

  // Ends the running launch. Called from outside the kernel.
  void stop(const std::string& reason);
  void stop_without_stacks();

  Context* main() { return &main_; }
  void set_fibre(Fibre* fibre) { fibre_.store(fibre, std::memory_order_relaxed); }

  // For signal handlers on this thread.
  bool in_kernel() const { return in_kernel_.load(std::memory_order_relaxed); }
  Dispatch* dispatch() const { return dispatch_.load(std::memory_order_relaxed); }
  Fibre* fibre() const { return fibre_.load(std::memory_order_relaxed); }
  // Marks the kernel as left. Then leave() must run at the top of the fibre's stack.
  void prepare_leave(const Fault& fault) {
    fault_ = fault;
    in_kernel_.store(false, std::memory_order_relaxed);
  }
  [[noreturn]] static void leave(Worker* worker);

  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  static void carrier_body(Fibre* self);
  void run_threadgroups(Dispatch& dispatch, uint64_t first, uint64_t last);
  void run_directly();
  void run_as_fibres();
  void step(Group& group, uint64_t index) const;
  void advance();
  void announce_next(const CpuCode& code);
  void begin_checks();
  void end_checks();
  bool needs_fibres(const CpuCode& code) const;
  void run_group(const CpuCode& code);
  uint64_t neighbours_to_join(const CpuCode& code) const;
  void run_threads(const CpuCode& code);
  uint32_t thread_count() const;

  std::atomic<bool> in_kernel_{false};
  std::atomic<Fibre*> fibre_{nullptr};
  std::atomic<Dispatch*> dispatch_{nullptr};
  Fault fault_;
  Context main_;
  Group group_{};
  Group next_group_{};
  Additions additions_;
  std::unique_ptr<GroupChecks> checks_;
  uint32_t histories_[1 + kMaxThreadsPerThreadgroup / kSimdWidth] = {};  // see Group::histories
  uint64_t next_ = 0;  // threadgroups [next_, last_) have not run yet
  uint64_t last_ = 0;
  FibreScheduler scheduler_;
  FibrePool carriers_;                  // for threadgroups that need no fibres
  FibrePool thread_fibres_;             // one for each thread
  char* threadgroup_memory_ = nullptr;  // with its margins
  void* signal_stack_ = nullptr;
  pthread_t thread_;
};

}  // namespace metal::cpu
