// Runs the threads of one threadgroup as fibres that wait for each other.
#include "metal/cpu/runtime/fibre_scheduler.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "metal/cpu/runtime/schedule.h"
#include "metal/cpu/runtime/worker.h"

namespace metal::cpu {

void FibreScheduler::run(const Group& group, EntryPoint entry, uint32_t threads, FibrePool& pool,
                         Schedule* schedule) {
  entry_ = entry;
  pool_ = &pool;
  schedule_ = schedule;
  if (schedule) schedule->start_threadgroup(group.position);
  simd_groups_ = (threads + kSimdWidth - 1) / kSimdWidth;
  for (uint32_t i = 0; i < simd_groups_; ++i) {
    uint32_t lanes = std::min(threads - i * kSimdWidth, kSimdWidth);
    pending_[i] = lanes == kSimdWidth ? UINT32_MAX : (uint32_t{1} << lanes) - 1;
    barrier_[i] = 0;
  }
  std::fill_n(fibre_, threads, nullptr);
  simd_group_ = UINT32_MAX;  // before the first one
  runnable_ = waiting_ = 0;
  handover_ = kNone;
  Fibre* first = pool.acquire();
  if (!first) return worker_.stop_without_stacks();
  group_ = &group;
  switch_context(worker_.main(), first->context());
  group_ = nullptr;
}

uint64_t FibreScheduler::converge(uint32_t site, LaneOperation operation, uint64_t x, uint64_t y,
                                  uint64_t z) {
  if (!group_) return x;
  worker_.leave_kernel();
  uint32_t thread = thread_;
  uint32_t lane = thread % kSimdWidth;
  site_[lane] = site;
  operation_[lane] = operation;
  lanes_.x[lane] = x;
  lanes_.y[lane] = y;
  lanes_.z[lane] = z;
  waiting_ |= uint32_t{1} << lane;
  block(thread);
  uint64_t result = lanes_.result[lane];
  worker_.enter_kernel();
  return result;
}

void FibreScheduler::threadgroup_barrier() {
  if (!group_) return;
  worker_.leave_kernel();
  uint32_t thread = thread_;
  barrier_[thread / kSimdWidth] |= uint32_t{1} << thread % kSimdWidth;
  block(thread);
  worker_.enter_kernel();
}

// Switches directly to the next thread, not through the worker's own stack.
void FibreScheduler::block(uint32_t thread) {
  Fibre* self = fibre_[thread];
  uint32_t next = next_thread();  // never kNone: this thread itself becomes runnable in the end
  if (next != thread) {
    Fibre* fibre = fibre_[next];
    if (!fibre) {
      fibre = pool_->acquire();
      if (!fibre) {
        worker_.stop_without_stacks();
        worker_.prepare_leave({.kind = Fault::Stopped});
        Worker::leave(&worker_);
      }
      handover_ = next;
    }
    switch_context(self->context(), fibre->context());
  }
  worker_.set_fibre(self);
  thread_ = thread;
}

void FibreScheduler::fibre_body(Fibre* self) {
  auto& scheduler = *static_cast<FibreScheduler*>(self->owner());
  for (;;) scheduler.execute(self);
}

// Runs threads that have not started on this fibre, one after the other, until the next thread to
// run is a suspended one.
void FibreScheduler::execute(Fibre* self) {
  uint32_t thread = std::exchange(handover_, kNone);
  if (thread == kNone) thread = next_thread();
  while (thread != kNone && !fibre_[thread]) {
    run_thread(self, thread);
    thread = next_thread();
  }
  pool_->release(self);
  switch_context(self->context(), thread == kNone ? worker_.main() : fibre_[thread]->context());
}

void FibreScheduler::run_thread(Fibre* self, uint32_t thread) {
  worker_.set_fibre(self);
  fibre_[thread] = self;
  thread_ = thread;
  worker_.enter_kernel();
  entry_(group_, thread);
  worker_.leave_kernel();
  fibre_[thread] = nullptr;
}

uint32_t FibreScheduler::next_thread() {
  for (;;) {
    if (runnable_) return simd_group_ * kSimdWidth + take_lane();
    if (waiting_) {
      resolve();
    } else if (schedule_ ? !choose_simd_group() : !next_simd_group()) {
      return kNone;
    }
  }
}

void FibreScheduler::resolve() {
  uint32_t smallest = UINT32_MAX;
  for (uint32_t rest = waiting_; rest; rest &= rest - 1) {
    smallest = std::min(smallest, site_[std::countr_zero(rest)]);
  }
  uint32_t mask = 0;
  for (uint32_t rest = waiting_; rest; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    if (site_[lane] == smallest) mask |= uint32_t{1} << lane;
  }
  LaneOperation operation = operation_[std::countr_zero(mask)];
  if (operation) operation(lanes_, mask);
  waiting_ &= ~mask;
  runnable_ = mask;
}

uint32_t FibreScheduler::take_lane() {
  uint32_t rest = runnable_;
  if (schedule_) {
    uint64_t skipped = schedule_->choose(static_cast<uint64_t>(std::popcount(rest)));
    for (; skipped; --skipped) rest &= rest - 1;
  }
  const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
  runnable_ &= ~(uint32_t{1} << lane);
  return lane;
}

bool FibreScheduler::next_simd_group() {
  for (;;) {
    while (++simd_group_ < simd_groups_) {
      if (pending_[simd_group_]) {
        runnable_ = std::exchange(pending_[simd_group_], 0);
        return true;
      }
    }
    simd_group_ = UINT32_MAX;
    if (!release_barriers()) return false;
  }
}

bool FibreScheduler::choose_simd_group() {
  uint32_t candidates[kMaxThreads / kSimdWidth];
  for (;;) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < simd_groups_; ++i) {
      if (pending_[i]) candidates[count++] = i;
    }
    if (count) {
      simd_group_ = candidates[schedule_->choose(count)];
      runnable_ = std::exchange(pending_[simd_group_], 0);
      return true;
    }
    if (!release_barriers()) return false;
  }
}

bool FibreScheduler::release_barriers() {
  uint32_t any = 0;
  for (uint32_t i = 0; i < simd_groups_; ++i) {
    pending_[i] = std::exchange(barrier_[i], 0);
    any |= pending_[i];
  }
  return any != 0;
}

}  // namespace metal::cpu
