// How the lanes of SIMD-groups access memory at one place of the code.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace metal::cpu {

// Compares the n-th address of each lane with the n-th one of the lane before it.
class AccessPattern {
 public:
  void start_threadgroup();
  void add(uint32_t thread, uint64_t address, uint64_t bytes);
  void add(const AccessPattern& other);

  bool any() const { return pairs_ != 0; }   // two lanes came here together
  uint64_t bytes() const { return bytes_; }  // of an access
  // Between neighbouring lanes, in bytes: that of most of them, or none.
  std::optional<int64_t> distance() const;

 private:
  static constexpr uint32_t kMaxTimes = 1024;  // that a thread's accesses are compared
  static constexpr size_t kMaxDistances = 64;

  struct Access {
    uint32_t thread;
    uint64_t address;
  };

  std::vector<std::vector<Access>> last_;  // by SIMD-group, and the number of the access
  std::vector<uint32_t> times_;            // by thread
  uint64_t bytes_ = 0;
  uint64_t pairs_ = 0;                     // of neighbouring lanes
  std::map<int64_t, uint64_t> distances_;  // between them
};

}  // namespace metal::cpu
