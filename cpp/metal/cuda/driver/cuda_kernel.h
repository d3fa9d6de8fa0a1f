// Kernels loaded on the GPU, with code for each form of launch that occurs.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "metal/cuda/driver/gpu.h"
#include "metal/cuda/driver/machine_code.h"
#include "metal/driver.h"

namespace metal::cuda {

// Machine code on the GPU.
class LoadedCode {
 public:
  LoadedCode(const Gpu& gpu, const MachineCode& code);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  CudaFunction function() const { return function_; }
  const KernelInterface& interface() const { return interface_; }

 private:
  const Gpu& gpu_;
  CudaModule module_ = nullptr;
  CudaFunction function_ = nullptr;
  KernelInterface interface_;
};

// The form of a launch, of code with this interface.
LaunchForm form_of(const LaunchParameters& parameters, const KernelInterface& interface);

class CudaKernel : public Kernel {
 public:
  // Generates the code for the most common form of launch. Throws CompileError.
  CudaKernel(const Gpu& gpu, const FunctionInfo& function, ConstantValues constants,
             std::string_view label);

  // The code for launches of this form, generated at the first call. Throws CompileError.
  // Thread-safe.
  const LoadedCode& code_for(const LaunchForm& form) const;
  LaunchForm form_for(const LaunchParameters& parameters) const {
    return form_of(parameters, *interface_);
  }
  uint32_t taken_by_value(uint32_t from_bytes, const LaunchParameters& parameters) const override;

 private:
  struct Loaded {
    Loaded(const LaunchForm& f, const Gpu& gpu, const MachineCode& machine_code)
        : form(f), code(gpu, machine_code) {}

    LaunchForm form;
    LoadedCode code;
  };

  const Gpu& gpu_;
  ConstantValues constants_;
  const KernelInterface* interface_ = nullptr;  // of the most common form
  mutable std::mutex mutex_;
  mutable std::deque<Loaded> loaded_;  // a deque, as callers keep the addresses of its elements
};

}  // namespace metal::cuda
