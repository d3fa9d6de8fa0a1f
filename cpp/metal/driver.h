// What the host API needs of a kind of device: memory, compiled kernels, ordered streams of
// launches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"
#include "metal/checks.h"
#include "metal/compiler/compiler.h"

// As Metal/Command.hpp declares it.
namespace MTL {

// A call of a library that computes on a device, such as cuBLASLt. It starts work in order with the
// launches of a stream, and does not wait for it.
struct LibraryCall {
  std::string name;  // for messages
  // `queue` is the device's own handle of the stream: a CUstream. The buffers are addresses of the
  // device's memory, in the order in which they were bound.
  std::function<void(void* queue, void* const* buffers)> start;
};

}  // namespace MTL

namespace metal {

class AttentionPlan;
class ConvolutionPlan;
class FourierTransformPlan;
class MatrixProductPlan;
struct Attention;
struct Convolution;
struct FourierTransform;
struct MatrixProduct;

inline constexpr uint32_t kMaxThreadsPerThreadgroup = 1024;
inline constexpr uint32_t kMaxThreadgroupMemory = 32768;  // bytes, static plus dynamic
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
  uint64_t active = 0;  // in use
  uint64_t peak = 0;    // the largest `active` since the last reset
  uint64_t cache = 0;   // freed, kept for reuse, and could be given back
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  virtual void* allocate(size_t bytes) = 0;  // null if there is no memory left
  virtual void deallocate(void* memory) = 0;
  virtual size_t allocated_size(const void* memory) const = 0;  // at least what was requested

  virtual MemoryStatistics statistics() const = 0;
  virtual void reset_peak() = 0;
  virtual void clear_cache() = 0;
  // A soft limit: beyond it freed memory is not kept, but allocations succeed.
  virtual uint64_t set_memory_limit(uint64_t bytes) = 0;  // both return the old limit
  virtual uint64_t set_cache_limit(uint64_t bytes) = 0;
  virtual uint64_t memory_limit() const = 0;
  virtual bool over_limit() const = 0;  // more than the limit is in use
};

// Memory of a device that is apart from the host's. Every address of the allocators of all such
// devices has a counterpart in it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // Must be called before the counterpart of another device's memory is used. Throws
  // std::runtime_error if the device has no memory left.
  virtual void prepare(void*, size_t) {}
  virtual void* counterpart(void* host) const = 0;
  // Copies from the counterpart, and returns when the host has the bytes. No launch that writes
  // them may be running.
  virtual void download(void* host, size_t bytes) = 0;
};

// Copies of buffers between the host's memory and a device's since the start. What setBytes passes
// is not counted.
struct TransferStatistics {
  uint64_t uploads = 0, uploaded_bytes = 0;
  uint64_t downloads = 0, downloaded_bytes = 0;
};
METAL_API TransferStatistics transfer_statistics();

struct LaunchParameters;

// A function of a program, specialised and loaded.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Why threadgroups of this size run one thread at a time; empty if they do not. May generate
  // code.
  virtual std::string why_scalar(const uint32_t (&)[3]) const { return {}; }
  // Which of the buffers that hold bytes of the host, as bits, a launch takes by value, so that the
  // device need not have them: LaunchParameters::by_value.
  virtual uint32_t taken_by_value(uint32_t /*from_bytes*/, const LaunchParameters&) const {
    return 0;
  }

  std::string name;    // for messages; info.name is the function's own
  std::string source;  // of checked kernels: reports show its lines
  FunctionInfo info;
  uint32_t max_total_threads = kMaxThreadsPerThreadgroup;  // per threadgroup
  uint32_t static_threadgroup_memory = 0;                  // bytes
  bool repeats = true;  // a thread may run an instruction more than once
};

// How often interrupt() has been called.
METAL_API uint64_t interrupt_count();

// The parameters of one launch. `threads_per_grid` need not be a multiple of
// `threads_per_threadgroup`.
struct LaunchParameters {
  void* buffers[kMaxBufferBindings] = {};
  uint64_t buffer_bytes[kMaxBufferBindings] = {};  // from the address to the buffer's end
  uint32_t by_value = 0;  // the buffers, as bits, whose addresses are of the host's memory
  bool apart = false;     // no buffer that the kernel only reads has memory of one that it writes
  uint32_t threadgroup_memory[kMaxBufferBindings] = {};  // bytes by [[threadgroup(n)]]
  uint32_t threads_per_grid[3] = {1, 1, 1};
  uint32_t threads_per_threadgroup[3] = {1, 1, 1};
  // See setThreadgroupOrder.
  uint64_t order_stride = 0;
  uint64_t order_count = 1;
  std::shared_ptr<const CheckedLaunch> checked;    // null if the kernel is not checked
  double time_limit = 0;                           // seconds; 0 means none
  uint64_t interrupts_before = interrupt_count();  // a later interrupt() prevents the launch
  bool trusted = false;  // does not fail: a kernel of the array library, or a library's call
};

using MTL::LibraryCall;

struct ConstantCopy {
  void* address = nullptr;  // of the device's memory; null if there is none
  bool is_new = false;      // false if the device had it already
};

enum class LaunchFault { Interrupted, TimeLimit, BadAccess, StackOverflow, Trap };

// A kernel that started and did not finish. what() names the kernel.
class METAL_API LaunchError : public std::runtime_error {
 public:
  LaunchError(LaunchFault fault, const std::string& message)
      : std::runtime_error(message), fault(fault) {}

  LaunchFault fault;
};

// Runs launches in order, each after the one before has finished. Only one thread may use it at a
// time, except that others may wait for marks.
class Stream {
 public:
  virtual ~Stream() = default;

  virtual void launch(const Kernel& kernel, const LaunchParameters& parameters) = 0;
  virtual void wait() = 0;  // both throw LaunchError; launch() may return early
  // Whether launches return before they have finished. Then mark() returns a point after all
  // launches so far, and wait_for() returns when these have finished. It calls `poll` from time to
  // time, unless that is empty.
  virtual bool is_asynchronous() const { return false; }
  virtual uint64_t mark() { return 0; }
  virtual void wait_for(uint64_t mark, const std::function<void()>& poll);
  // Whether wait_for() would return at once.
  virtual bool has_passed(uint64_t /*mark*/) const { return true; }
  // For devices of whose kind the call's library is. The caller keeps the call until it has waited.
  virtual void start(const LibraryCall& call, const LaunchParameters& parameters);
  // Copies to the counterpart of this memory (DeviceMemory), in order with the launches. The host
  // may change the memory as soon as this returns.
  virtual void upload(void* host, size_t bytes);
  // The same from another device's counterpart. No launch that writes that may be running.
  virtual void copy_from(DeviceMemory& device, void* host, size_t bytes);
  // A copy of these bytes in the device's memory, for the next launch, which only reads them. None
  // if there are too many, or if kernels access the host's memory.
  virtual ConstantCopy copy_constant(const void* /*bytes*/, size_t /*count*/) { return {}; }
};

class Driver {
 public:
  virtual ~Driver() = default;

  virtual const DeviceInfo& info() const = 0;
  virtual Allocator& allocator() = 0;
  // `label` becomes the kernel's name in messages. A kernel with checks is only for checked
  // launches.
  virtual std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                             const ConstantValues& constants,
                                             std::string_view label, Checks checks) = 0;
  virtual std::unique_ptr<Stream> new_stream() = 0;
  virtual void interrupt() = 0;  // ends every running launch with LaunchError
  // Null if kernels access the host's memory, then also memory that is not from the allocator.
  // Otherwise launches get addresses of this memory.
  virtual DeviceMemory* device_memory() { return nullptr; }
  // Null if no library of the device computes this (metal/matrix_product.h,
  // metal/fourier_transform.h, metal/convolution.h, metal/attention.h).
  virtual std::shared_ptr<const MatrixProductPlan> plan(const MatrixProduct&) { return nullptr; }
  virtual std::shared_ptr<const FourierTransformPlan> plan(const FourierTransform&) {
    return nullptr;
  }
  virtual std::shared_ptr<const ConvolutionPlan> plan(const Convolution&) { return nullptr; }
  virtual std::shared_ptr<const AttentionPlan> plan(const Attention&) { return nullptr; }
};

// How many devices there are of the kind that the environment variable MLX_METAL_DEVICE names at
// the first call: "cpu", "cuda" for NVIDIA GPUs, or "discrete" for tests (cpu/discrete_driver.h).
// Throws std::runtime_error if there is none, and std::invalid_argument for other values.
METAL_API size_t device_count();
// The driver of such a device, which the first call opens. Throws std::runtime_error if it cannot
// be used.
METAL_API Driver& driver_of_device(size_t number);
// That of the first one.
METAL_API Driver& default_driver();
// The drivers of all devices that are open.
METAL_API std::vector<Driver*> open_drivers();

// Folders that may have NVIDIA's Python packages, whose libraries a driver may use: site-packages.
METAL_API void set_package_folders(std::vector<std::string> folders);

// The driver of queues on which the host computes: the default one, unless that has a device with
// memory of its own.
Driver& host_driver();
// The allocator of the buffers of a driver's device: the host has those of the default device.
Allocator& allocator_of(Driver& driver);

// Throws std::invalid_argument if there are any checks, for drivers that make none.
void refuse_checks(Checks checks, std::string_view label);

// The code of kernels at a stage, as text; function constants are zero. `form`: "llvm" (kernel
// form), "llvm-opt" or "asm" (code for this CPU), or "ptx" (for NVIDIA GPUs: `architecture`, sm_80
// if it is empty). Throws std::invalid_argument for other forms.
std::string emit(const Program& program, std::string_view form, std::string_view architecture = "");

// Ends all running and all committed work of every queue with an error. Can be called from any
// thread.
METAL_API void interrupt();

// The number of forks between the first process and this one. Threads do not survive a fork, so the
// child never completes their work.
METAL_API uint32_t fork_count();

// The error message for a launch that breaks a limit, with the kernel's name and the numbers; empty
// if the launch may run. Sizes are as the user gave them; a negative one has wrapped around.
std::string check_launch(const Kernel& kernel, const uint64_t (&threads_per_grid)[3],
                         const uint64_t (&threads_per_threadgroup)[3],
                         uint64_t dynamic_threadgroup_memory);

}  // namespace metal
