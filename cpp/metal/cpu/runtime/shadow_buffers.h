// Shadows of a launch's buffers: which of their bits nobody has written.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/findings.h"
#include "metal/driver.h"

namespace metal::cpu {

// Checked code (checks/shadow_memory.h) keeps them. A bit is set where that of the buffer is
// undefined.
class ShadowBuffers {
 public:
  // Says in `memory` where they are. Throws std::bad_alloc.
  ShadowBuffers(const FunctionInfo& kernel, const LaunchParameters& parameters,
                std::vector<CheckedMemory>& memory);
  ~ShadowBuffers();
  ShadowBuffers(const ShadowBuffers&) = delete;
  ShadowBuffers& operator=(const ShadowBuffers&) = delete;

  // The kernel may write in ways that its code does not follow.
  void forget() { forgotten_ = true; }
  // An undefined value is stored here, and may be there at the end.
  void note_store(const Finding& finding, const Finding* origin, uint64_t address, uint64_t bytes);

  // At the end of the launch.
  bool all_written() const;
  void report(Findings& findings) const;

 private:
  // More undefined stores are not told from what nobody has written.
  static constexpr size_t kMaxStores = size_t{1} << 20;

  struct Shadow {
    char* block = nullptr;  // of the heap
    const char* begin = nullptr;
    uint64_t bytes = 0;
    const char* buffer = nullptr;
    CheckObject object;
  };
  struct Mapping {
    void* memory;
    uint64_t bytes;
  };

  void add(const ArgumentInfo& argument, const CheckedLaunch::Extent& extent, const char* address,
           CheckedMemory& memory);
  void map(const CheckedLaunch::Extent& extent, const char* address, CheckedMemory& memory);
  void report(const Shadow& shadow, Findings& findings) const;

  std::deque<Shadow> shadows_;
  std::vector<Mapping> mappings_;  // of buffers that are only read
  std::atomic<bool> forgotten_{false};
  std::mutex mutex_;
  std::unordered_map<uint64_t, Finding> stores_;  // by the address of an element
};

}  // namespace metal::cpu
