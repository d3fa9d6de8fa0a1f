// The kernels of a Compiled primitive: one for each combination of its inputs' memory layouts.
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

// How the kernel computes the index of an input's element.
enum class InputLayout : char {
  Scalar = 's',   // the same element everywhere
  Line = 'l',     // the thread's position: all arrays have the same order of elements
  Row = 'r',      // elements of a row are contiguous
  Same = 'c',     // the same element throughout a row
  General = 'g',  // by strides
};

class CompiledKernels {
 public:
  // `label` is the kernels' name in messages.
  CompiledKernels(const Trace& body, std::string label);

  // Returns the kernel, or null while another thread compiles it, which the first call starts. With
  // MLX_COMPILE_BACKGROUND=0 in the environment the call waits for it.
  MTL::ComputePipelineState* find(const std::string& layouts, Device device);
  bool is_same_as(const CompiledKernels& other) const { return statements_ == other.statements_; }

 private:
  // Inputs are v0, v1, ...; each statement defines the next value.
  std::string source(const std::string& layouts) const;

  std::string label_;
  std::vector<std::string> input_types_, output_types_;
  std::string statements_;
  std::vector<int> output_values_;

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<PendingPipeline>> pipelines_;
};

}  // namespace mlx::core
