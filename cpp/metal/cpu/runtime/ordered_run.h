// What one run of the check of order knows besides the launch: its schedule, and what it notes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "metal/checks.h"
#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/runtime/schedule.h"

namespace metal::cpu {

// By how much sums of floats may differ that atomics make in another order.
class RoundingBounds {
 public:
  // Before `addend` is added there.
  void add(const float* place, float addend, bool shared);
  void start_threadgroup();  // threadgroup memory is another one

  bool any() const { return any_; }
  // Of a float in device memory; where nothing was added it may come from any of the sums.
  double bound(const float* place) const;

 private:
  struct Sum {
    uint64_t addends = 0;
    double magnitude = 0;  // sum of the absolute values
    double bound() const;
  };
  std::unordered_map<const float*, Sum> device_;
  std::unordered_map<const float*, Sum> threadgroup_;
  double largest_ = 0;
  bool any_ = false;
};

struct OrderedRun {
  bool prints = false;               // messages of os_log
  std::optional<Schedule> schedule;  // none: threads run in the order of their numbers

  // The last write to these bytes, if they are any.
  const char* watched = nullptr;
  uint64_t watched_bytes = 0;
  const CheckSite* writer = nullptr;
  ThreadPosition writer_position = {};

  RoundingBounds sums{};
};

}  // namespace metal::cpu
