#include "metal/cpu/visit_order.h"

namespace metal::cpu {

// Where a row of the grid is all there is, and only whole threadgroups apart.
VisitOrder::VisitOrder(const LaunchParameters& parameters, uint32_t joined) {
  const uint32_t* grid = parameters.threads_per_grid;
  const uint32_t size = parameters.threads_per_threadgroup[0] * joined;
  const uint64_t stride = parameters.visit_stride / size;
  const uint64_t groups = grid[0] / size;
  if (grid[1] != 1 || grid[2] != 1 || parameters.visit_stride % size != 0) return;
  if (stride < 2 || parameters.visit_count < 2 || parameters.visit_count > groups / stride) return;
  stride_ = stride;
  count_ = parameters.visit_count;
  end_ = groups / (stride * count_) * (stride * count_);
}

uint64_t VisitOrder::operator[](uint64_t index) const {
  if (index >= end_) return index;
  const uint64_t within = index % (stride_ * count_);
  return index - within + within % count_ * stride_ + within / count_;
}

}  // namespace metal::cpu
