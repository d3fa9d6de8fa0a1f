// The MSL of a group of elementwise operations, which kernels contain. Every operation rounds as
// its own kernel does, so that fused and unfused results are equal to the bit.
#pragma once

#include <string>
#include <vector>

#include "mlx/compile/trace.h"

namespace mlx::core {

struct CompiledText {
  explicit CompiledText(const Trace& body);

  std::vector<std::string> input_types, output_types;
  // Inputs are v0, v1, ...; each statement defines the next value.
  std::string statements;
  std::vector<int> output_values;
};

std::string msl_type(Dtype dtype);

}  // namespace mlx::core
