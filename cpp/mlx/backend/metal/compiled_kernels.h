// The kernels of a Compiled primitive: one for each way in which its inputs may lie in memory.
#pragma once

#include <Metal/Metal.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "mlx/compile/trace.h"
#include "mlx/device.h"

namespace mlx::core {

class PendingPipeline;

// How the kernel finds the element of an input.
enum class InputLayout : char {
  Scalar = 's',   // the same everywhere
  Line = 'l',     // all arrays have one order of elements: by the thread's position
  Row = 'r',      // elements of a row lie side by side
  Same = 'c',     // the same throughout a row
  General = 'g',  // by strides
};

class CompiledKernels {
 public:
  // `label`: what messages call the kernels.
  CompiledKernels(const Trace& body, std::string label);

  // The kernel; null while it is being compiled on another thread, which the first call starts.
  // With MLX_COMPILE_BACKGROUND=0 in the environment the call waits for it.
  MTL::ComputePipelineState* find(const std::string& layouts, Device device);
  bool is_same_as(const CompiledKernels& other) const { return statements_ == other.statements_; }

 private:
  // Inputs are v0, v1, ...; then each statement defines the next value.
  std::string source(const std::string& layouts) const;

  std::string label_;
  std::vector<std::string> input_types_, output_types_;
  std::string statements_;
  std::vector<int> output_values_;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<PendingPipeline>> pipelines_;
};

}  // namespace mlx::core
