// The parts of transformations that language bindings call for functions over trees of arrays.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// The functions that transformations take.
using ArraysFunction = std::function<std::vector<array>(const std::vector<array>&)>;

namespace detail {

// vmap in two steps: the function's outputs on tracers for a single element, then the mapped
// outputs.
std::pair<std::vector<array>, std::vector<array>> vmap_trace(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<array>& inputs, const std::vector<int>& in_axes);
std::vector<array> vmap_replace(const std::vector<array>& inputs,
                                const std::vector<array>& s_inputs,
                                const std::vector<array>& s_outputs,
                                const std::vector<int>& in_axes, const std::vector<int>& out_axes);

// vjp with respect to the arguments `argnums` only.
std::pair<std::vector<array>, std::vector<array>> vjp(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<array>& primals, const std::vector<array>& cotangents,
    const std::vector<int>& argnums);

// While one exists on a thread, arrays that a transformation follows keep their graph at
// evaluation.
struct InTracing {
  explicit InTracing(bool dynamic = false, bool grad = false);
  ~InTracing();
  InTracing(const InTracing&) = delete;
  InTracing& operator=(const InTracing&) = delete;

  static bool in_tracing();
  static bool in_dynamic_tracing();
  static bool in_grad_tracing();

 private:
  bool dynamic_;
  bool grad_;
};

// While one exists on a thread, evaluation keeps every graph.
struct RetainGraph {
  RetainGraph();
  ~RetainGraph();
  RetainGraph(const RetainGraph&) = delete;
  RetainGraph& operator=(const RetainGraph&) = delete;
};

bool in_tracing();
bool retain_graph();
// The same for any thread.
bool tracing_anywhere();
bool retained_anywhere();

}  // namespace detail

}  // namespace mlx::core
