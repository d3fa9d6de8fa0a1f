// Graphs of arrays as text and as drawings.
#include "mlx/graph_utils.h"

#include <ostream>
#include <unordered_set>

#include "mlx/primitives/primitive.h"
#include "mlx/transforms/graph_walk.h"

namespace mlx::core {

namespace {

// A, B, ..., Z, AA, AB, ...
std::string nth_name(size_t n) {
  std::string name;
  for (++n; n > 0; n = (n - 1) / 26) {
    name.insert(name.begin(), static_cast<char>('A' + (n - 1) % 26));
  }
  return name;
}

struct GraphNode {
  array first;  // it holds the primitive
  std::vector<array> outputs;
};

// Holds all outputs, so that no two arrays have the same id.
std::vector<GraphNode> graph_of(const std::vector<array>& outputs) {
  std::vector<GraphNode> nodes;
  auto is_node = [](const array& a) {
    return a.has_primitive() && a.status() == array::Status::unscheduled;
  };
  for (const auto& a : topological_order(outputs, is_node, false)) {
    nodes.push_back({a, a.outputs()});
  }
  return nodes;
}

// The arrays that nodes use and no node makes.
std::vector<array> inputs_of(const std::vector<GraphNode>& nodes) {
  std::unordered_set<std::uintptr_t> known;
  std::vector<array> inputs;
  for (const auto& node : nodes) {
    for (const auto& in : node.first.inputs()) {
      if (known.insert(in.id()).second) inputs.push_back(in);
    }
    for (const auto& out : node.outputs) known.insert(out.id());
  }
  return inputs;
}

// Inputs first, then outputs of nodes.
void name_all(NodeNamer& namer, const std::vector<GraphNode>& nodes) {
  for (const auto& in : inputs_of(nodes)) namer.get_name(in);
  for (const auto& node : nodes) {
    for (const auto& out : node.outputs) namer.get_name(out);
  }
}

std::string joined(NodeNamer& namer, const std::vector<array>& values) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : ", ") + namer.get_name(value);
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

const std::string& NodeNamer::get_name(const array& x) {
  const auto found = names_.find(x.id());
  if (found != names_.end()) return found->second;
  return names_.emplace(x.id(), nth_name(next_++)).first->second;
}

void NodeNamer::set_name(const array& x, std::string name) {
  names_.insert_or_assign(x.id(), std::move(name));
}

void print_graph(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs) {
  const auto nodes = graph_of(outputs);
  name_all(namer, nodes);
  os << "Inputs: " << joined(namer, inputs_of(nodes)) << '\n';
  os << "Outputs: " << joined(namer, outputs) << '\n';
  for (const auto& node : nodes) {
    node.first.primitive().print(os);
    os << ' ' << joined(namer, node.first.inputs()) << " -> " << joined(namer, node.outputs)
       << '\n';
  }
}

void export_to_dot(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs) {
  const auto nodes = graph_of(outputs);
  name_all(namer, nodes);
  std::unordered_map<std::uintptr_t, size_t> drawn;
  auto drawing_of = [&](const array& value) {
    const auto [found, is_new] = drawn.try_emplace(value.id(), drawn.size());
    const std::string name = "array" + std::to_string(found->second);
    if (is_new) os << "  " << name << " [label=" << quoted(namer.get_name(value)) << "];\n";
    return name;
  };
  os << "digraph {\n  node [shape=ellipse];\n";
  for (const auto& in : inputs_of(nodes)) drawing_of(in);
  for (const auto& out : outputs) drawing_of(out);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string operation = "operation" + std::to_string(i);
    os << "  " << operation << " [label=" << quoted(nodes[i].first.primitive().name())
       << ", shape=rectangle];\n";
    for (const auto& in : nodes[i].first.inputs()) {
      const std::string name = drawing_of(in);
      os << "  " << name << " -> " << operation << ";\n";
    }
    for (const auto& out : nodes[i].outputs) {
      const std::string name = drawing_of(out);
      os << "  " << operation << " -> " << name << ";\n";
    }
  }
  os << "}\n";
}

}  // namespace mlx::core
