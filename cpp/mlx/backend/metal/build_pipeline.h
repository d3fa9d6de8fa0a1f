// Kernels from MSL.
#pragma once

#include <Metal/Metal.hpp>
#include <stdexcept>
#include <string>

namespace mlx::core {

struct PipelineSource {
  std::string text;      // MSL
  std::string function;  // the kernel in it
  std::string label;     // what messages call it
  MTL::MathMode math_mode = MTL::MathModeSafe;
};

// What the compiler says; `what()` is empty if the text does not define the function.
struct PipelineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws PipelineError.
NS::SharedPtr<MTL::ComputePipelineState> build_pipeline(const PipelineSource& source,
                                                        MTL::Device* device);

}  // namespace mlx::core
