// The kernels of a Compiled primitive: one for each combination of its inputs' memory layouts.
#pragma once

#include <string>

#include "mlx/backend/metal/background_pipelines.h"
#include "mlx/backend/metal/compiled_text.h"

namespace mlx::core {

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

  // Returns the kernel, or null until it is compiled.
  MTL::ComputePipelineState* find(const std::string& layouts, Device device);
  bool is_same_as(const CompiledKernels& other) const {
    return text_.statements == other.text_.statements;
  }

 private:
  std::string source(const std::string& layouts) const;

  std::string label_;
  CompiledText text_;
  PipelineVariants variants_;
};

}  // namespace mlx::core
