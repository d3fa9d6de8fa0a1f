// Traversals of the graph of arrays.
#include "mlx/transforms/graph_walk.h"

#include <unordered_set>

#include "mlx/primitives/graph.h"

namespace mlx::core {

size_t num_followed_inputs(const array& a) {
  size_t count = a.inputs().size();
  if (auto* custom = dynamic_cast<const CustomTransforms*>(&a.primitive())) {
    count -= custom->num_outputs();
  }
  return count;
}

std::vector<array> topological_order(const std::vector<array>& outputs,
                                     const std::function<bool(const array&)>& enter,
                                     bool only_followed_inputs) {
  struct Frame {
    array a;
    size_t next;
    size_t count;
  };
  std::vector<array> order;
  std::vector<Frame> stack;
  std::unordered_set<std::uintptr_t> seen;
  auto visit = [&](const array& a) {
    if (enter(a) && seen.insert(a.node_id()).second) {
      stack.push_back({a, 0, only_followed_inputs ? num_followed_inputs(a) : a.inputs().size()});
    }
  };
  for (const auto& out : outputs) {
    visit(out);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.count) {
        visit(top.a.inputs()[top.next++]);
      } else {
        order.push_back(std::move(top.a));
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace mlx::core
