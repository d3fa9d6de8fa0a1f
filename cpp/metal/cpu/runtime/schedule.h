// The order in which the check of order runs threadgroups, SIMD-groups and lanes.
#pragma once

#include <cstdint>
#include <vector>

namespace metal::cpu {

// Schedules are numbered from 1 on. The first one reverses the order, the others choose at random,
// but the same each time.
class Schedule {
 public:
  explicit Schedule(uint32_t number) : number_(number), state_(number) {}

  uint32_t number() const { return number_; }

  // The threadgroups 0 to `count` - 1 in the order in which they run.
  std::vector<uint64_t> order(uint64_t count);
  // What is chosen in a threadgroup does not depend on those before it.
  void start_threadgroup(const uint32_t (&position)[3]);
  // Which one out of so many runs next.
  uint64_t choose(uint64_t count);

 private:
  uint64_t next();  // random bits

  uint32_t number_;
  uint64_t state_;
};

}  // namespace metal::cpu
