// An NVIDIA GPU that this process uses, with its context.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "metal/cuda/driver/api.h"

namespace metal::cuda {

class Gpu {
 public:
  // Throws std::runtime_error with the reason if the GPU cannot be used. `number`: in the order in
  // which the driver shows GPUs, which CUDA_VISIBLE_DEVICES chooses.
  Gpu(const Api& api, size_t number);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Api& api() const { return api_; }
  size_t number() const { return number_; }
  CudaContext context() const { return context_; }
  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }  // "sm_90": see architectures.h
  uint64_t memory_size() const { return memory_size_; }              // bytes
  MemoryLocation location() const { return {.device = device_}; }
  // Whether it reads the other GPU's memory by itself.
  bool can_access(const Gpu& other) const;
  // Names the GPU and the driver: machine code depends on them besides its PTX.
  const std::string& code_key() const { return code_key_; }

  // Every thread must call this before it calls the driver. Throws std::runtime_error if the GPU is
  // lost, and in a process made by fork(), where the driver cannot be used.
  void enter() const;
  // The same for destructors: false if nothing can be freed.
  bool try_enter() const noexcept;

  // Throws std::runtime_error, which names the action, for all results but Success.
  void check(Result result, const char* action) const;

  // Refuses every later use with this reason. The first reason counts.
  void lose(const std::string& reason);
  bool lost() const { return lost_.load(); }
  bool is_forked() const;

 private:
  int attribute(DeviceAttribute attribute) const;
  void open();
  void describe_code(int driver_version);

  const Api& api_;
  const size_t number_;
  CudaDevice device_ = 0;
  CudaContext context_ = nullptr;
  std::string name_;
  std::string architecture_;
  uint64_t memory_size_ = 0;
  std::string code_key_;
  const uint32_t forks_;  // fork_count() when this was made
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  std::string reason_;  // why it is lost
};

// Starts the driver, and returns how many GPUs it shows: at least one. Throws std::runtime_error
// with the reason if there is none.
size_t count_gpus(const Api& api);

}  // namespace metal::cuda
