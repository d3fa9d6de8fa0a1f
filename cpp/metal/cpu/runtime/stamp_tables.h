// The memory of a screen's stamps (checks/stamp.h).
#pragma once

#include <cstdint>
#include <vector>

#include "metal/cpu/abi.h"
#include "metal/driver.h"

namespace metal::cpu {

// For the buffers that a kernel may write, and threadgroup memory: all zero at first. The system
// gives pages when they are touched.
class StampTables {
 public:
  // Says in `memory` where they are.
  StampTables(const FunctionInfo& kernel, uint64_t threadgroup_bytes,
              std::vector<CheckedMemory>& memory);
  ~StampTables();
  StampTables(const StampTables&) = delete;
  StampTables& operator=(const StampTables&) = delete;

 private:
  uint64_t* map(uint64_t stamps);

  struct Mapping {
    void* memory;
    uint64_t bytes;
  };
  std::vector<Mapping> mappings_;
};

}  // namespace metal::cpu
