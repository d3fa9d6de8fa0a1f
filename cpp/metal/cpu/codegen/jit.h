// Turns compiled programs into kernels that this CPU can run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "metal/api.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"

namespace metal::cpu {

// Code for threadgroups of certain sizes.
struct CpuCode {
  EntryPoint entry = nullptr;
  Granularity granularity = Granularity::Group;
  // Whether `entry` may call a metal_cpu_* function that blocks (barriers, SIMD-group functions,
  // reconverge).
  bool has_barriers = false;
  bool prefetches = false;   // `entry` wants to know Group::next
  bool says_thread = false;  // `entry` keeps Group::thread
  std::string why_scalar;    // what had no vector form, where scalar code stands in for vector code
};

// A kernel ready to run.
struct CpuKernel {
  virtual ~CpuKernel() = default;

  // For threadgroups of this size, where a launch has rows of `row` threads; generated when it is
  // first needed. Throws CompileError where that is not possible. Thread-safe.
  virtual const CpuCode& code_for(const uint32_t (&size)[3], uint32_t row) const = 0;

  uint32_t static_threadgroup_memory = 0;  // bytes at the start of Group::memory
  uint32_t max_total_threads = 1024;       // per threadgroup
  // Threads do nothing together and do not know their threadgroup, which may then be any other.
  bool threads_are_independent = false;
  bool repeats = true;  // a thread may come to an instruction twice
};

// Throws std::invalid_argument for constants that do not fit. Thread-safe. With `reference`, one
// thread at a time instead of vector code.
std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, std::string_view function,
                                           const ConstantValues& constants, bool reference);

// How many kernels run as scalar code in this process because they had no vector form.
METAL_API uint64_t scalar_fallbacks();

}  // namespace metal::cpu
