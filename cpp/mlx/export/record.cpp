// Records functions, and replaces nodes that files cannot hold.

#include "mlx/compile/simplify.h"
#include "mlx/errors.h"
#include "mlx/export/graph.h"
#include "mlx/primitives/compiled.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/load.h"
#include "mlx/transforms.h"
#include "mlx/transforms_impl.h"

namespace mlx::core::exported {

namespace {

ArraysFunction of_one_list(const FunctionExporter::Function& fun, size_t num_args,
                           const std::vector<std::string>& keywords) {
  return [&fun, &keywords, num_args](const std::vector<array>& inputs) {
    const auto split = inputs.begin() + static_cast<ptrdiff_t>(num_args);
    Kwargs kwargs;
    for (size_t i = 0; i < keywords.size(); ++i) kwargs.emplace(keywords[i], split[i]);
    return fun(Args(inputs.begin(), split), kwargs);
  };
}

// The nodes of a trace, some of them replaced by others.
class Expansion {
 public:
  explicit Expansion(const Trace& trace) : shapeless_(trace.shapeless) {}

  void add(const TraceNode& node) {
    if (node.outputs[0].status() != array::Status::unscheduled) return;
    const Primitive* primitive = node.primitive.get();
    if (const auto* fused = dynamic_cast<const Fused*>(primitive)) {
      add_operations_of(node, *fused);
    } else if (dynamic_cast<const CustomTransforms*>(primitive)) {
      // The last inputs are what the function returned.
      const size_t first = node.inputs.size() - node.outputs.size();
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        replaced_.replace(node.outputs[i], node.inputs[first + i]);
      }
    } else {
      nodes_.push_back(node);
    }
  }

  // Returns the trace with the nodes replaced.
  Trace trace(const Trace& of) {
    for (auto& node : nodes_) node.inputs = replaced_(node.inputs);
    return {of.inputs, replaced_(of.outputs), std::move(nodes_), of.shapeless};
  }

 private:
  void add_operations_of(const TraceNode& node, const Fused& fused) {
    std::vector<array> placeholders;
    for (const auto& in : node.inputs) {
      placeholders.emplace_back(in.shape(), in.dtype(), nullptr, std::vector<array>{});
      placeholders.back().set_tracer(true);
      replaced_.replace(placeholders.back(), in);
    }
    const detail::InTracing in_tracing{shapeless_};
    const auto outputs = replay(fused.body(), placeholders);
    for (auto& inner : nodes_between(placeholders, outputs)) nodes_.push_back(std::move(inner));
    for (size_t i = 0; i < outputs.size(); ++i) replaced_.replace(node.outputs[i], outputs[i]);
  }

  bool shapeless_;
  std::vector<TraceNode> nodes_;
  Replacements replaced_;
};

void read_files(const Trace& trace) {
  std::vector<array> stored;
  for (const auto& node : trace.nodes) {
    if (dynamic_cast<const Load*>(node.primitive.get())) stored.push_back(node.outputs[0]);
  }
  eval(stored);
}

}  // namespace

RecordedFunction record(const FunctionExporter::Function& fun, const Args& args,
                        const Kwargs& kwargs, bool shapeless) {
  RecordedFunction made;
  const Signature given = signature_of(args, kwargs, shapeless);
  made.keywords = given.keywords;
  const Trace whole =
      mlx::core::trace(of_one_list(fun, args.size(), given.keywords), given.inputs, shapeless);
  read_files(whole);
  Expansion expansion(whole);
  for (const auto& node : whole.nodes) expansion.add(node);
  made.trace = expansion.trace(whole);
  simplify(made.trace);
  return made;
}

}  // namespace mlx::core::exported
