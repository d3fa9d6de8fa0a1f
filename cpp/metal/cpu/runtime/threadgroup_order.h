// The order in which the threadgroups of a launch are run.
#pragma once

#include <cstdint>

#include "metal/driver.h"

namespace metal::cpu {

// Threadgroups that share lines of memory one after the other: out of every `stride` * `count` of
// them first 0, stride, 2 stride, ..., then 1, stride + 1, ... What is left at the end stays in
// order.
class ThreadgroupOrder {
 public:
  ThreadgroupOrder() = default;
  ThreadgroupOrder(const LaunchParameters& parameters, uint32_t coarsening);

  bool natural() const { return count_ == 1; }
  // The threadgroup, numbered with x fastest, that is the `index`-th to run.
  uint64_t operator[](uint64_t index) const;

 private:
  uint64_t stride_ = 1;
  uint64_t count_ = 1;
  uint64_t end_ = 0;  // of whole blocks
};

}  // namespace metal::cpu
