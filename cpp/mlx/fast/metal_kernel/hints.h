// Hints below compile errors: what the author of a kernel's body may have overlooked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mlx::core::fast {

// What a generated signature offers to the body.
struct BodyScope {
  std::string body;
  std::vector<std::string> inputs;
  std::vector<std::string> constant_inputs;  // those of few elements
  std::vector<std::string> outputs;
  std::vector<std::string> templates;
  bool atomic_outputs = false;
};

// Lines to add to the compiler's diagnostics, each with "hint:" in front; empty where nothing is
// known to help.
std::string hints_for(std::string_view diagnostics, const BodyScope& scope);

}  // namespace mlx::core::fast
