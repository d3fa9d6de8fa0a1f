// What a launch with coverage counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "metal/cpu/abi.h"
#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/runtime/access_pattern.h"

namespace metal::cpu {

// The threadgroups run one after the other, on one worker.
class CoverageRun {
 public:
  void start_threadgroup(uint32_t threads);
  void end_threadgroup();

  // Called from kernel code.
  void run_block(const CoverageTable& table, uint32_t thread, uint32_t block);
  void take(const CoverageTable& table, uint32_t edge);
  void touch(const CoverageTable& table, uint32_t thread, uint32_t access, const void* place,
             uint64_t bytes);

  // To what `coverage()` gives, under the name of the kernel and the lines of its source.
  void add_to_total(const std::string& kernel, const std::string& source) const;

 private:
  void use(const CoverageTable& table);

  const CoverageTable* table_ = nullptr;  // null until the kernel has begun
  uint32_t threads_ = 0;
  std::vector<uint32_t> runs_;           // of this threadgroup: by block, and by thread in it
  std::vector<uint64_t> counts_;         // by block: how often a thread ran it
  std::vector<uint64_t> issues_;         // by block: how often a SIMD-group did
  std::vector<uint64_t> edges_;          // by edge
  std::vector<uint64_t> bytes_;          // by access
  std::vector<AccessPattern> patterns_;  // by access
};

}  // namespace metal::cpu
