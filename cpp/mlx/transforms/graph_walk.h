// Traversals of the graph of arrays. They do not recurse: graphs may be deeper than the stack.
#pragma once

#include <functional>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// The inputs through which a transformation follows the array: all of them, but only the arguments
// of a function with custom rules.
size_t num_followed_inputs(const array& a);

// The nodes that the outputs depend on, inputs before their users; one array represents all
// siblings. `enter(a)` says whether the node and its inputs belong to the traversal; it is called
// at most once per node and input position.
std::vector<array> topological_order(const std::vector<array>& outputs,
                                     const std::function<bool(const array&)>& enter,
                                     bool only_followed_inputs);

}  // namespace mlx::core
