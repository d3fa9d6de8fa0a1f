#include "metal/cpu/runtime/threadgroup_order.h"

namespace metal::cpu {

// Only a grid of one row is reordered, and only by whole threadgroups.
ThreadgroupOrder::ThreadgroupOrder(const LaunchParameters& parameters, uint32_t coarsening) {
  const uint32_t* grid = parameters.threads_per_grid;
  if (parameters.order_count < 2) return;  // nearly always; the rest divides
  const uint32_t size = parameters.threads_per_threadgroup[0] * coarsening;
  const uint64_t stride = parameters.order_stride / size;
  const uint64_t groups = grid[0] / size;
  if (grid[1] != 1 || grid[2] != 1 || parameters.order_stride % size != 0) return;
  if (stride < 2 || parameters.order_count > groups / stride) return;
  stride_ = stride;
  count_ = parameters.order_count;
  end_ = groups / (stride * count_) * (stride * count_);
}

uint64_t ThreadgroupOrder::operator[](uint64_t index) const {
  if (!listed_.empty()) return listed_[index];
  if (index >= end_) return index;
  const uint64_t within = index % (stride_ * count_);
  return index - within + within % count_ * stride_ + within / count_;
}

}  // namespace metal::cpu
