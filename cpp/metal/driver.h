// What a kind of device has to offer the host API: memory, compiled kernels, ordered streams of
// launches.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "metal/api.h"
#include "metal/compiler/compiler.h"

namespace metal {

inline constexpr uint32_t kMaxThreadsPerThreadgroup = 1024;
inline constexpr uint32_t kMaxThreadgroupMemory = 32768;  // bytes, static and dynamic together
inline constexpr uint32_t kMaxBufferBindings = 31;
inline constexpr uint32_t kThreadExecutionWidth = 32;

struct DeviceInfo {
  std::string name;
  std::string architecture;
  uint64_t memory_size = 0;              // bytes
  uint64_t max_buffer_length = 0;        // bytes
  uint64_t recommended_working_set = 0;  // bytes
};

// Memory of the device in bytes.
struct MemoryStatistics {
  uint64_t active = 0;  // handed out
  uint64_t peak = 0;    // the most that was ever handed out since the last reset
  uint64_t cache = 0;   // freed, kept for reuse
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  virtual void* allocate(size_t bytes) = 0;  // null when there is none left
  virtual void deallocate(void* memory) = 0;
  virtual size_t allocated_size(const void* memory) const = 0;  // at least what was asked for

  virtual MemoryStatistics statistics() const = 0;
  virtual void reset_peak() = 0;
  virtual void clear_cache() = 0;
  // A guideline: beyond it freed memory is not kept, and allocations still succeed.
  virtual uint64_t set_memory_limit(uint64_t bytes) = 0;  // both return the limit before
  virtual uint64_t set_cache_limit(uint64_t bytes) = 0;
  virtual uint64_t memory_limit() const = 0;
  virtual bool over_limit() const = 0;  // more than that is handed out
};

// A function of a program, specialised and loaded.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Why threadgroups of this size run one thread at a time; nothing if they do not. Generates code.
  virtual std::string why_scalar(const uint32_t (&)[3]) const { return {}; }

  std::string name;  // for messages; the function's own is info.name
  FunctionInfo info;
  uint32_t max_total_threads = kMaxThreadsPerThreadgroup;  // per threadgroup
  uint32_t static_threadgroup_memory = 0;                  // bytes
  bool repeats = true;  // whether a thread may come to an instruction twice
};

// How often interrupt() has been called.
uint64_t interrupt_count();

// One launch. `threads_per_grid` need not be a multiple of `threads_per_threadgroup`.
struct LaunchParameters {
  void* buffers[kMaxBufferBindings] = {};
  uint64_t buffer_bytes[kMaxBufferBindings] = {};        // from there to the buffer's end
  uint32_t threadgroup_memory[kMaxBufferBindings] = {};  // bytes by [[threadgroup(n)]]
  uint32_t threads_per_grid[3] = {1, 1, 1};
  uint32_t threads_per_threadgroup[3] = {1, 1, 1};
  // Threads so far apart along x read neighbouring memory, and so many of them: see
  // setThreadgroupOrder.
  uint64_t order_stride = 0;
  uint64_t order_count = 1;
  double time_limit = 0;                           // seconds; 0: none
  uint64_t interrupts_before = interrupt_count();  // an interrupt() since then prevents the launch
};

enum class LaunchFault { Interrupted, TimeLimit, BadAccess, StackOverflow, Trap };

// A kernel that started and did not finish. what() names the kernel.
class METAL_API LaunchError : public std::runtime_error {
 public:
  LaunchError(LaunchFault fault, const std::string& message)
      : std::runtime_error(message), fault(fault) {}

  LaunchFault fault;
};

// Launches run in order, each one after the one before has finished. Used by one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;

  virtual void launch(const Kernel& kernel, const LaunchParameters& parameters) = 0;
  virtual void wait() = 0;  // both throw LaunchError; launch() need not wait
};

class Driver {
 public:
  virtual ~Driver() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual Allocator& allocator() = 0;
  virtual std::shared_ptr<const Program> compile(std::string_view source,
                                                 const CompileOptions& options) = 0;
  // `label` becomes the kernel's name.
  virtual std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                             const ConstantValues& constants,
                                             std::string_view label) = 0;
  virtual std::unique_ptr<Stream> new_stream() = 0;
  virtual void interrupt() = 0;  // ends every running launch with LaunchError
  // Whether kernels can use memory that is not from the allocator.
  virtual bool uses_foreign_memory() const { return true; }
};

// The driver of the default device, which the environment variable MLX_METAL_DEVICE chooses when
// one is first asked for: "cpu", or "cuda" for an NVIDIA GPU. Throws std::runtime_error where there
// is none, and std::invalid_argument for others.
METAL_API Driver& default_driver();

// What kernels become, as text, with function constants that are zero. `form`: "llvm" (kernel
// form), "llvm-opt" or "asm" (code for this CPU), or "ptx" (for NVIDIA GPUs: `architecture`, sm_80
// if it is empty). Throws std::invalid_argument for others.
std::string emit(const Program& program, std::string_view form, std::string_view architecture = "");

// Ends everything in flight on every queue with an error: running launches, and those committed but
// not yet started. From any thread.
METAL_API void interrupt();

// How many forks lie between the first process and this one. Threads do not survive a fork: what
// they had in hand will never be done in the child.
METAL_API uint32_t fork_count();

// Refusal of a launch that breaks a limit, naming kernel and numbers; empty when it may run. Sizes
// are as given by the user; a negative one arrives wrapped around.
std::string check_launch(const Kernel& kernel, const uint64_t (&threads_per_grid)[3],
                         const uint64_t (&threads_per_threadgroup)[3],
                         uint64_t dynamic_threadgroup_memory);

}  // namespace metal
