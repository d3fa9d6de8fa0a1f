// Turns compiled programs into kernels that this CPU can run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"
#include "metal/checks.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/codegen/element_access.h"
#include "metal/cpu/variant.h"

namespace metal::cpu {

// Code for the threadgroups of one variant.
struct CpuCode {
  EntryPoint entry = nullptr;  // null if there is no code for joined threadgroups
  Granularity granularity = Granularity::Group;
  // Whether `entry` may call a metal_cpu_* function that waits: for barriers, SIMD-group functions
  // or reconvergence.
  bool has_barriers = false;
  bool prefetches = false;      // `entry` reads Group::next
  bool interchanges = false;    // `entry` runs an iteration of all threads of a row before the next
  bool records_thread = false;  // `entry` records the running thread in Group::thread
  std::string why_scalar;       // why this is scalar code, if vector code was asked for
};

// What code may rely on in a launch, as Variant says.
struct LaunchFacts {
  bool separate_buffers = false;
  bool few_threads = false;
  JoinedGroups joined = {};
};

// A kernel ready to run.
struct CpuKernel {
  virtual ~CpuKernel() = default;

  // The code for threadgroups of this size in a launch whose rows have `row` threads. It is
  // generated on first use; throws CompileError if that fails. Thread-safe.
  virtual const CpuCode& code_for(const uint32_t (&size)[3], uint32_t row,
                                  const LaunchFacts& facts) const = 0;

  // The neighbouring threadgroups of this size that may run as one.
  virtual JoinedGroups groups_to_join(const uint32_t (&)[3]) const { return {}; }

  uint32_t static_threadgroup_memory = 0;  // bytes at the start of Group::memory
  uint32_t max_total_threads = 1024;       // per threadgroup
  // Threads are independent: they may run in any threadgroup.
  bool threads_are_independent = false;
  bool repeats = true;                // a thread may run an instruction more than once
  bool jumps_along_rows = true;       // neighbours in a row may access memory that is far apart
  bool groups_write_columns = false;  // see row_access.h
  uint32_t column_dimension = 0;      // see row_access.h
  // What each thread accesses, if threads are independent and that is known.
  std::vector<ElementAccess> element_accesses;
};

// Vector code, one thread at a time, or vector code with the quick tests of checks/screen.h.
enum class CodeMode : uint32_t { Vector, Reference, Screen };

// Throws std::invalid_argument for constants that do not fit. Thread-safe. CodeMode::Reference with
// checks makes exact ones.
std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, std::string_view function,
                                           const ConstantValues& constants, CodeMode mode,
                                           Checks checks = kNoChecks);

// How many kernels of this process run as scalar code because they had no vector form.
METAL_API uint64_t scalar_fallbacks();

}  // namespace metal::cpu
