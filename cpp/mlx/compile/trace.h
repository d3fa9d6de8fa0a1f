// Trace: a function's graph, recorded once on placeholders, that can be built again on other
// arrays.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "mlx/array.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

// A primitive with its inputs and outputs. The arrays represent values: they are placeholders,
// other nodes' outputs, or constants. The node holds the primitive, since an evaluated array drops
// its own.
struct TraceNode {
  std::shared_ptr<Primitive> primitive;
  std::vector<array> inputs;
  std::vector<array> outputs;
};

struct Trace {
  std::vector<array> inputs;  // placeholders
  std::vector<array> outputs;
  std::vector<TraceNode> nodes;  // inputs before what uses them
  bool shapeless = false;        // whether inputs may have other shapes, of the same ranks
};

// Calls the function on placeholders with the shapes and types of the inputs.
Trace trace(const ArraysFunction& fun, const std::vector<array>& inputs, bool shapeless);

// Returns the graph that computes the outputs from the inputs, without evaluated arrays.
std::vector<TraceNode> nodes_between(const std::vector<array>& inputs,
                                     const std::vector<array>& outputs);

// Rebuilds the graph of the trace on these inputs.
std::vector<array> replay(const Trace& trace, const std::vector<array>& inputs);

// A map from replaced values to their replacements. It follows chains.
class Replacements {
 public:
  void replace(const array& value, const array& by) { by_.insert_or_assign(value.id(), by); }
  array operator()(const array& value) const;
  std::vector<array> operator()(const std::vector<array>& values) const;

 private:
  std::unordered_map<std::uintptr_t, array> by_;
};

// Whether the value is an evaluated scalar.
bool is_scalar_constant(const array& value);

}  // namespace mlx::core
