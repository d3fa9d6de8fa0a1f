// Runs the threads of one threadgroup as fibres that wait for each other.
#pragma once

#include <cstdint>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/fibre.h"

namespace metal::cpu {

class Worker;

// What the lanes of a SIMD-group bring to an operation, and get from it.
struct Lanes {
  uint64_t x[kSimdWidth];
  uint64_t y[kSimdWidth];
  uint64_t z[kSimdWidth];
  uint64_t result[kSimdWidth];
};

// Carries out one SIMD-group operation for the lanes in `mask`.
using LaneOperation = void (*)(Lanes& lanes, uint32_t mask);

// A SIMD-group runs until each of its threads has ended or waits at a threadgroup barrier: every
// lane runs until it blocks; then the lanes at the smallest site carry out their operation and go
// on. When all threads of the threadgroup that still live wait at barriers, all of them go on. So
// nothing can wait forever.
class FibreScheduler {
 public:
  explicit FibreScheduler(Worker& worker) : worker_(worker) {}

  // Returns when every thread has ended, or with a fault in the worker.
  void run(const Group& group, EntryPoint entry, uint32_t threads, FibrePool& pool);

  // From kernel code. Both return when the calling thread may go on.
  uint64_t converge(uint32_t site, LaneOperation operation, uint64_t x = 0, uint64_t y = 0,
                    uint64_t z = 0);
  void threadgroup_barrier();
  bool active() const { return group_ != nullptr; }
  uint32_t thread() const { return thread_; }  // the one that runs, or ran last
  Worker& worker() { return worker_; }

  static void fibre_body(Fibre* self);

 private:
  static constexpr uint32_t kMaxThreads = 1024;
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t next_thread();  // who runs now; kNone when all have ended
  void resolve();          // one SIMD-group operation
  bool next_simd_group();  // false when all threads have ended
  void block(uint32_t thread);
  void execute(Fibre* self);
  void run_thread(Fibre* self, uint32_t thread);

  Worker& worker_;
  const Group* group_ = nullptr;
  EntryPoint entry_ = nullptr;
  FibrePool* pool_ = nullptr;
  uint32_t simd_groups_ = 0;

  uint32_t thread_ = kNone;    // the one that runs
  uint32_t handover_ = kNone;  // the one that a fibre without work is woken for
  uint32_t simd_group_ = 0;    // the one that is being run
  uint32_t runnable_ = 0;      // its lanes that can go on now
  uint32_t waiting_ = 0;       // its lanes that wait at a SIMD-group site
  uint32_t site_[kSimdWidth];
  LaneOperation operation_[kSimdWidth];
  Lanes lanes_;
  uint32_t
      pending_[kMaxThreads / kSimdWidth];  // lanes that will run when their SIMD-group runs next
  uint32_t barrier_[kMaxThreads / kSimdWidth];  // lanes that wait at a threadgroup barrier
  Fibre* fibre_[kMaxThreads];                   // of threads that have started
};

inline FibreScheduler& scheduler_of(const Group* group) {
  return *static_cast<FibreScheduler*>(group->scheduler);
}

}  // namespace metal::cpu
