// Runs the threads of one threadgroup as fibres that wait for each other.
#pragma once

#include <cstdint>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/fibre.h"

namespace metal::cpu {

class Schedule;
class Worker;

// The operands and results of a SIMD-group operation, by lane.
struct Lanes {
  uint64_t x[kSimdWidth];
  uint64_t y[kSimdWidth];
  uint64_t z[kSimdWidth];
  uint64_t result[kSimdWidth];
};

// Carries out one SIMD-group operation for the lanes in `mask`.
using LaneOperation = void (*)(Lanes& lanes, uint32_t mask);

// Runs one SIMD-group until each of its threads has ended or waits at a threadgroup barrier: each
// lane runs until it waits; then the lanes at the smallest site carry out their operation and
// continue. When all threads of the threadgroup that have not ended wait at barriers, all of them
// continue. So no thread waits forever.
class FibreScheduler {
 public:
  explicit FibreScheduler(Worker& worker) : worker_(worker) {}

  // Returns when every thread has ended, or when the worker has a fault.
  // `schedule`, if any, chooses which SIMD-group and which lane runs next; otherwise they run in
  // the order of their numbers.
  void run(const Group& group, EntryPoint entry, uint32_t threads, FibrePool& pool,
           Schedule* schedule);

  // Called from kernel code. Both return when the calling thread may continue.
  uint64_t converge(uint32_t site, LaneOperation operation, uint64_t x = 0, uint64_t y = 0,
                    uint64_t z = 0);
  void threadgroup_barrier();
  bool active() const { return group_ != nullptr; }
  uint32_t thread() const { return thread_; }  // the running thread, or the last one
  Worker& worker() const { return worker_; }

  static void fibre_body(Fibre* self);

 private:
  static constexpr uint32_t kMaxThreads = 1024;
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t next_thread();    // the thread to run now; kNone when all have ended
  void resolve();            // carries out one SIMD-group operation
  bool next_simd_group();    // false when all threads have ended
  bool choose_simd_group();  // the same, by the schedule
  bool release_barriers();   // false if no thread waits at one
  uint32_t take_lane();      // one of `runnable_`
  void block(uint32_t thread);
  void execute(Fibre* self);
  void run_thread(Fibre* self, uint32_t thread);

  Worker& worker_;
  const Group* group_ = nullptr;
  EntryPoint entry_ = nullptr;
  FibrePool* pool_ = nullptr;
  Schedule* schedule_ = nullptr;
  uint32_t simd_groups_ = 0;

  uint32_t thread_ = kNone;    // the running thread
  uint32_t handover_ = kNone;  // the thread that an idle fibre is woken for
  uint32_t simd_group_ = 0;    // the running SIMD-group
  uint32_t runnable_ = 0;      // its lanes that can continue
  uint32_t waiting_ = 0;       // its lanes that wait at a SIMD-group site
  uint32_t site_[kSimdWidth];
  LaneOperation operation_[kSimdWidth];
  Lanes lanes_;
  uint32_t
      pending_[kMaxThreads / kSimdWidth];  // lanes that continue when their SIMD-group runs next
  uint32_t barrier_[kMaxThreads / kSimdWidth];  // lanes that wait at a threadgroup barrier
  Fibre* fibre_[kMaxThreads];                   // of threads that have started
};

inline FibreScheduler& scheduler_of(const Group* group) {
  return *static_cast<FibreScheduler*>(group->scheduler);
}

}  // namespace metal::cpu
