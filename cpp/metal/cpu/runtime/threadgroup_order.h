// The order in which the threadgroups of a launch run.
#pragma once

#include <cstdint>

#include "metal/driver.h"

namespace metal::cpu {

// Runs threadgroups that share lines of memory one after the other: out of every `stride` * `count`
// threadgroups first 0, stride, 2 stride, ..., then 1, stride + 1, ... The last threadgroups, if
// they fill no such block, keep their order.
class ThreadgroupOrder {
 public:
  ThreadgroupOrder() = default;
  ThreadgroupOrder(const LaunchParameters& parameters, uint32_t coarsening);

  bool natural() const { return count_ == 1; }
  // The threadgroup that runs as the `index`-th one. Threadgroups are numbered with x fastest.
  uint64_t operator[](uint64_t index) const;

 private:
  uint64_t stride_ = 1;
  uint64_t count_ = 1;
  uint64_t end_ = 0;  // of the whole blocks
};

}  // namespace metal::cpu
