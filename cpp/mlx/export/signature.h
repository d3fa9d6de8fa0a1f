// What an exported function takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlx/export.h"

namespace mlx::core::exported {

struct Signature {
  std::vector<array> inputs;          // placeholders of the types and shapes
  std::vector<std::string> keywords;  // of the last inputs, in alphabetic order
  bool shapeless;                     // whether any shapes of the same ranks fit

  // The inputs in the function's order, if it takes them. The names of positional inputs are not
  // recorded: other keywords than the function's stand for the last of these, in alphabetic order.
  std::optional<std::vector<array>> in_order(const Args& args, const Kwargs& kwargs) const;

  // "(float32 (2,3), y: int32 ())"
  std::string text() const;
};

// Of exactly these inputs.
Signature signature_of(const Args& args, const Kwargs& kwargs, bool shapeless);

}  // namespace mlx::core::exported
