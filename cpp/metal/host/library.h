// Libraries, functions and pipelines on top of a driver's programs and kernels.
#pragma once

#include <Metal/Library.hpp>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "metal/driver.h"

namespace metal::host {

class LibraryObject : public MTL::Library {
 public:
  LibraryObject(MTL::Device* device, std::shared_ptr<const Program> program)
      : device_(device), program_(std::move(program)) {}

  NS::Array* functionNames() const override;
  MTL::Device* device() const override { return device_; }
  MTL::Function* newFunction(const NS::String* name) override;
  MTL::Function* newFunction(const NS::String* name, const MTL::FunctionConstantValues* constants,
                             NS::Error** error) override;

 private:
  MTL::Device* device_;
  std::shared_ptr<const Program> program_;
};

class FunctionObject : public MTL::Function {
 public:
  FunctionObject(MTL::Device* device, std::shared_ptr<const Program> program,
                 const std::string& name, ConstantValues constants);

  NS::String* name() const override { return name_.get(); }
  MTL::Device* device() const override { return device_; }
  NS::String* label() const override { return label_.get(); }
  void setLabel(const NS::String* label) override;
  // Throws the driver's exceptions.
  std::shared_ptr<const Kernel> load(Driver& driver, Checks checks) const;

 private:
  MTL::Device* device_;
  std::shared_ptr<const Program> program_;
  ConstantValues constants_;
  NS::SharedPtr<NS::String> name_;
  NS::SharedPtr<NS::String> label_;
};

// So many threads run code without loops in less than a second.
inline constexpr uint64_t kFewThreads = uint64_t{1} << 26;

class PipelineObject : public MTL::ComputePipelineState {
 public:
  // `kernel` is for the device. Without a function the pipeline has no other kernels.
  PipelineObject(MTL::Device* device, std::shared_ptr<const Kernel> kernel,
                 const FunctionObject* function = nullptr);

  MTL::Device* device() const override { return device_; }
  NS::String* label() const override { return label_.get(); }
  NS::UInteger maxTotalThreadsPerThreadgroup() const override { return kernel_->max_total_threads; }
  NS::UInteger threadExecutionWidth() const override { return kThreadExecutionWidth; }
  NS::UInteger staticThreadgroupMemoryLength() const override {
    return kernel_->static_threadgroup_memory;
  }
  void setBounded() override { bounded_ = true; }
  // Whether a launch of so many threads ends soon.
  bool bounded(uint64_t threads) const {
    return bounded_ || (!kernel_->repeats && threads <= kFewThreads);
  }
  // Whether it is a kernel of the array library, which does not fail.
  bool trusted() const { return bounded_; }
  const Kernel& kernel() const { return *kernel_; }
  // Loaded when it is first asked for. Throws what the driver throws. Thread-safe.
  const Kernel& kernel_for(Driver& driver, Checks checks) const;

 private:
  MTL::Device* device_;
  std::shared_ptr<const Kernel> kernel_;
  NS::SharedPtr<const FunctionObject> function_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Driver*, Checks>, std::shared_ptr<const Kernel>> others_;
  NS::SharedPtr<NS::String> label_;
  std::atomic<bool> bounded_{false};
};

// Reads the CompileOptions of the host API; null means the defaults.
CompileOptions compile_options(const MTL::CompileOptions* options);

}  // namespace metal::host
