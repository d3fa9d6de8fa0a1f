// A queue of launches on the GPU.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>

#include "metal/constant_copies.h"
#include "metal/cuda/driver/cuda_kernel.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/cuda/driver/gpu_memory.h"
#include "metal/driver.h"

namespace metal::cuda {

// At marks, the GPU writes the number of completed launches to memory that the host reads. So a
// wait needs no call of the driver. A mark keeps the GPU from work for 2 to 3 us, so there is not
// one for each launch; but there is one between any two kernels of which either may fail, so that
// after a fault the number says which one did.
class CudaStream : public Stream {
 public:
  CudaStream(Gpu& gpu, GpuMemory& memory);
  ~CudaStream() override;

  void launch(const Kernel& kernel, const LaunchParameters& parameters) override;
  void wait() override { wait_for(mark(), {}); }
  bool is_asynchronous() const override { return true; }
  uint64_t mark() override;
  void wait_for(uint64_t mark, const std::function<void()>& poll) override;
  bool has_passed(uint64_t mark) const override;
  void start(const LibraryCall& call, const LaunchParameters& parameters) override;
  void upload(void* host, size_t bytes) override;
  void copy_from(DeviceMemory& device, void* host, size_t bytes) override;
  ConstantCopy copy_constant(const void* bytes, size_t count) override;

 private:
  using Clock = std::chrono::steady_clock;

  // A launch, or a library's call, that may not have completed.
  struct Pending {
    uint32_t number;
    const std::string* name;  // the caller keeps it until it has waited
    bool trusted;
  };
  // The state of one wait.
  struct Watch {
    Clock::time_point progress;     // when a launch last completed
    Clock::time_point interrupted;  // when the interrupt came, or the clock's maximum
    uint32_t ended;                 // the count at `progress`
  };

  void open();
  void upload_to(DeviceAddress to, const void* bytes, size_t count);
  void begin(const std::string& name, const LaunchParameters& parameters);
  void end(const std::string& name, bool trusted, Result result);
  void write_mark();
  void launch_part(const LoadedCode& code, const Kernel& kernel, const LaunchParameters& parameters,
                   const struct GridPart& part);
  bool has_ended(uint32_t number) const;
  void check_progress(Watch& watch);
  [[noreturn]] void fail(Result result);
  [[noreturn]] void abandon(LaunchFault fault, const std::string& why);
  std::string running();
  void forget_pending();

  Gpu& gpu_;
  GpuMemory& memory_;
  CudaStreamHandle handle_ = nullptr;  // opened by the first launch
  uint32_t* ended_ = nullptr;          // the number of completed launches; in the host's memory
  void* constants_ = nullptr;          // the block that holds copies of constants
  ConstantCopies constant_copies_;
  uint32_t launched_ = 0;
  uint32_t marked_ = 0;                     // the number of the last mark
  const std::string* untrusted_ = nullptr;  // what may fail of the launches since then
  std::mutex mutex_;                        // of what follows
  std::deque<Pending> pending_;
  std::atomic<double> time_limit_{0};
  std::atomic<uint64_t> interrupts_before_{0};
};

}  // namespace metal::cuda
