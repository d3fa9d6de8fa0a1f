// The order in which the threadgroups of a launch run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "metal/driver.h"

namespace metal::cpu {

// Runs threadgroups that share lines of memory one after the other: out of every `stride` * `count`
// threadgroups first 0, stride, 2 stride, ..., then 1, stride + 1, ... The last threadgroups, if
// they fill no such block, keep their order.
class ThreadgroupOrder {
 public:
  ThreadgroupOrder() = default;
  ThreadgroupOrder(const LaunchParameters& parameters, uint32_t coarsening);
  // Of `groups` threadgroups.
  ThreadgroupOrder(uint64_t stride, uint64_t count, uint64_t groups)
      : stride_(stride), count_(count), end_(groups / (stride * count) * (stride * count)) {}
  // All threadgroups, in this order.
  explicit ThreadgroupOrder(std::vector<uint64_t> listed) : listed_(std::move(listed)) {}

  bool natural() const { return count_ == 1 && listed_.empty(); }
  // The threadgroup that runs as the `index`-th one. Threadgroups are numbered with x fastest.
  uint64_t operator[](uint64_t index) const;

 private:
  uint64_t stride_ = 1;
  uint64_t count_ = 1;
  uint64_t end_ = 0;  // of the whole blocks
  std::vector<uint64_t> listed_;
};

}  // namespace metal::cpu
