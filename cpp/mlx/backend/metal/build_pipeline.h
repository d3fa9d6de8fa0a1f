// Compiles a kernel from MSL source text.
#pragma once

#include <Metal/Metal.hpp>
#include <stdexcept>
#include <string>

namespace mlx::core {

struct PipelineSource {
  std::string text;      // MSL
  std::string function;  // the kernel in it
  std::string label;     // its name in messages
  MTL::MathMode math_mode = MTL::MathModeSafe;
};

// Holds the compiler's message; `what()` is empty if the text does not define the function.
struct PipelineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws PipelineError.
NS::SharedPtr<MTL::ComputePipelineState> build_pipeline(const PipelineSource& source,
                                                        MTL::Device* device);

}  // namespace mlx::core
