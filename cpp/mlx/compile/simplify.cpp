// Common subexpressions, operations without effect, and nodes that nothing uses.
#include "mlx/compile/simplify.h"

#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>

#include "mlx/primitives/graph.h"
#include "mlx/primitives/shape.h"
#include "mlx/primitives/unary.h"

namespace mlx::core {

namespace {

// Scalars of one type and value are one constant.
class Constants {
 public:
  void unite(const array& value, Replacements& replaced) {
    if (!is_scalar_constant(value)) return;
    std::string key(value.data<char>(), value.itemsize());
    key += static_cast<char>(value.dtype().val());
    auto [first, is_new] = by_value_.try_emplace(std::move(key), value);
    if (!is_new && first->second.id() != value.id()) replaced.replace(value, first->second);
  }

 private:
  std::unordered_map<std::string, array> by_value_;
};

bool hands_its_input_on(const TraceNode& node) {
  const auto* primitive = node.primitive.get();
  return dynamic_cast<const Copy*>(primitive) ||
         (dynamic_cast<const AsType*>(primitive) &&
          node.inputs[0].dtype() == node.outputs[0].dtype());
}

// The nodes so far, by class and inputs.
class SeenNodes {
 public:
  // Returns a node that computes the same, or null.
  const TraceNode* find_twin(const TraceNode& node) {
    auto& candidates = by_key_[key_of(node)];
    for (const auto& other : candidates) {
      if (computes_the_same(node, other)) return &other;
    }
    candidates.push_back(node);
    return nullptr;
  }

 private:
  static std::string key_of(const TraceNode& node) {
    const Primitive& primitive = *node.primitive;
    std::string key = std::to_string(std::type_index(typeid(primitive)).hash_code());
    for (const auto& in : node.inputs) key += ',' + std::to_string(in.id());
    return key;
  }

  static bool computes_the_same(const TraceNode& a, const TraceNode& b) {
    const Primitive& p = *a.primitive;
    const Primitive& q = *b.primitive;
    if (typeid(p) != typeid(q) || p.stream() != q.stream() || a.inputs.size() != b.inputs.size() ||
        a.outputs.size() != b.outputs.size()) {
      return false;
    }
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (a.inputs[i].id() != b.inputs[i].id()) return false;
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if (a.outputs[i].dtype() != b.outputs[i].dtype() ||
          a.outputs[i].shape() != b.outputs[i].shape()) {
        return false;
      }
    }
    return p.is_equivalent(q);
  }

  std::unordered_map<std::string, std::vector<TraceNode>> by_key_;
};

void drop_unused(Trace& trace) {
  std::unordered_set<std::uintptr_t> used;
  auto use = [&](const std::vector<array>& values) {
    for (const auto& value : values) used.insert(value.id());
  };
  use(trace.outputs);
  std::vector<TraceNode> kept;
  for (auto node = trace.nodes.rbegin(); node != trace.nodes.rend(); ++node) {
    bool needed = false;
    for (const auto& out : node->outputs) needed = needed || used.count(out.id()) > 0;
    if (!needed) continue;
    use(node->inputs);
    kept.push_back(std::move(*node));
  }
  trace.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

// A Broadcast depends on other arrays only for their shapes. These follow from the inputs of
// elementwise operations, so the Broadcast depends on those inputs instead: it then need not wait
// for the operations, and they can be fused.
class ShapeSources {
 public:
  explicit ShapeSources(const Trace& trace) {
    for (const auto& node : trace.nodes) {
      const Primitive* primitive = node.primitive.get();
      if (dynamic_cast<const Elementwise*>(primitive) ||
          dynamic_cast<const StopGradient*>(primitive) ||
          (dynamic_cast<const Broadcast*>(primitive) && node.inputs.size() > 1)) {
        from_inputs_.emplace(node.outputs[0].id(), node.inputs);
      }
    }
  }

  void simplify(TraceNode& node) const {
    if (!dynamic_cast<const Broadcast*>(node.primitive.get()) || node.inputs.size() == 1) return;
    std::vector<array> inputs{node.inputs[0]};
    std::vector<array> stack(node.inputs.begin() + 1, node.inputs.end());
    std::unordered_set<std::uintptr_t> seen{node.inputs[0].id()};
    while (!stack.empty()) {
      const array source = stack.back();
      stack.pop_back();
      if (!seen.insert(source.id()).second) continue;
      auto from = from_inputs_.find(source.id());
      if (from == from_inputs_.end()) {
        inputs.push_back(source);
      } else {
        stack.insert(stack.end(), from->second.begin(), from->second.end());
      }
    }
    node.inputs = std::move(inputs);
  }

 private:
  std::unordered_map<std::uintptr_t, std::vector<array>> from_inputs_;
};

}  // namespace

void simplify(Trace& trace) {
  if (trace.shapeless) {
    const ShapeSources sources(trace);
    for (auto& node : trace.nodes) sources.simplify(node);
  }
  Replacements replaced;
  Constants constants;
  SeenNodes seen;
  for (auto& node : trace.nodes) {
    for (const auto& in : node.inputs) constants.unite(in, replaced);
    node.inputs = replaced(node.inputs);
    if (hands_its_input_on(node)) {
      replaced.replace(node.outputs[0], node.inputs[0]);
    } else if (const TraceNode* twin = seen.find_twin(node)) {
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        replaced.replace(node.outputs[i], twin->outputs[i]);
      }
    }
  }
  trace.outputs = replaced(trace.outputs);
  drop_unused(trace);
}

}  // namespace mlx::core
