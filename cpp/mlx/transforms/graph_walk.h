// Walks over the graph of arrays, in loops: graphs may be deeper than the stack.
#pragma once

#include <functional>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// The inputs through which a transformation follows the array: all, but for a function with rules
// of its own only its arguments.
size_t num_followed_inputs(const array& a);

// Nodes that the outputs depend on, inputs before what uses them; of siblings one stands for all.
// `enter(a)` says whether the node and what is behind it belong to the walk; it is asked at most
// once per node and input position.
std::vector<array> topological_order(const std::vector<array>& outputs,
                                     const std::function<bool(const array&)>& enter,
                                     bool only_followed_inputs);

}  // namespace mlx::core
