// Hints that follow compile errors: likely mistakes in a kernel's body.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlx::core::fast {

// The names that a generated signature gives to the body.
struct BodyScope {
  std::string body;
  std::vector<std::string> inputs;
  std::vector<std::string> constant_inputs;  // those of few elements
  std::vector<std::string> outputs;
  std::vector<std::string> templates;
  bool atomic_outputs = false;
};

// Lines to add to the compiler's diagnostics, each starting with "hint:"; empty if no hint applies.
std::string hints_for(std::string_view diagnostics, const BodyScope& scope);

}  // namespace mlx::core::fast
