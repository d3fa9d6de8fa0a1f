// Records graphs, and rebuilds them on other arrays.
#include "mlx/compile/trace.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "mlx/compile/fits.h"
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/binary.h"
#include "mlx/primitives/compiled.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/linear.h"
#include "mlx/primitives/primitive.h"
#include "mlx/primitives/shape.h"
#include "mlx/transforms/graph_walk.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

// Whether the primitive takes arrays of one shape: other inputs may have to be broadcast.
bool wants_one_shape(const Primitive& primitive) {
  return dynamic_cast<const Elementwise*>(&primitive) || dynamic_cast<const DivMod*>(&primitive) ||
         dynamic_cast<const Fused*>(&primitive);
}

bool has_index_for(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Whether the updates of a scatter had the whole length of an axis, but do not have it now.
bool misses_elements(const Scatter& scatter, const TraceNode& node,
                     const std::vector<array>& inputs) {
  const auto axes = std::get<1>(scatter.state());
  const auto lacks = [](const std::vector<array>& in, int axis) {
    const int of_indices = static_cast<int>(in.back().ndim() - in[0].ndim());
    return in.back().shape(of_indices + axis) != in[0].shape(axis);
  };
  for (int axis = 0; axis < static_cast<int>(inputs[0].ndim()); ++axis) {
    if (!has_index_for(axes, axis) && !lacks(node.inputs, axis) && lacks(inputs, axis)) return true;
  }
  return false;
}

// A gather took some axes whole; it takes them whole in other shapes, too.
std::shared_ptr<Primitive> for_shapes(const TraceNode& node, const std::vector<array>& inputs) {
  const auto* gather = dynamic_cast<const Gather*>(node.primitive.get());
  if (!gather || inputs[0].ndim() != node.inputs[0].ndim()) return node.primitive;
  auto [axes, sizes] = gather->state();
  for (int axis = 0; axis < static_cast<int>(sizes.size()); ++axis) {
    if (!has_index_for(axes, axis) && sizes[axis] == node.inputs[0].shape(axis))
      sizes[axis] = inputs[0].shape(axis);
  }
  return std::make_shared<Gather>(gather->stream(), axes, sizes);
}

// Slices keep the bounds that they were recorded with. If the length of the input differs, the same
// Python slice might mean other bounds.
bool has_fixed_part(const TraceNode& node, const std::vector<array>& inputs) {
  const Primitive* primitive = node.primitive.get();
  if (dynamic_cast<const Slice*>(primitive) || dynamic_cast<const SliceUpdate*>(primitive))
    return inputs[0].shape() != node.inputs[0].shape();
  if (const auto* scatter = dynamic_cast<const Scatter*>(primitive))
    return misses_elements(*scatter, node, inputs);
  const auto* split = dynamic_cast<const Split*>(primitive);
  if (!split || inputs[0].ndim() != node.inputs[0].ndim()) return false;
  const int axis = std::get<1>(split->state());
  return inputs[0].shape(axis) != node.inputs[0].shape(axis);
}

[[noreturn]] void refuse_shapes(const Primitive& primitive, const std::vector<array>& inputs) {
  std::string shapes;
  for (const auto& in : inputs) shapes += (shapes.empty() ? "" : ", ") + text(in.shape());
  invalid_argument("compile",
                   message("The function was recorded for other shapes, and its ", primitive.name(),
                           " cannot take inputs of the shapes ", shapes, "."));
}

std::vector<array> build(const TraceNode& node, std::vector<array> inputs, bool shapeless) {
  std::vector<Shape> shapes;
  std::shared_ptr<Primitive> primitive = node.primitive;
  if (shapeless) {
    if (wants_one_shape(*node.primitive)) {
      inputs = broadcast_arrays(inputs, node.primitive->stream());
    }
    if (dynamic_cast<const Matmul*>(node.primitive.get()) && inputs.size() == 2 &&
        std::all_of(inputs.begin(), inputs.end(), [](const array& a) { return a.ndim() >= 2; })) {
      std::tie(inputs[0], inputs[1]) =
          broadcast_batches(inputs[0], inputs[1], node.primitive->stream());
    }
    primitive = for_shapes(node, inputs);
    if (!fits(*primitive, inputs)) refuse_shapes(*primitive, inputs);
    if (has_fixed_part(node, inputs)) refuse_shapes(*primitive, inputs);
    shapes = primitive->output_shapes(inputs);
    shapes.resize(node.outputs.size());
  } else {
    for (const auto& out : node.outputs) shapes.push_back(out.shape());
  }
  if (node.outputs.size() == 1) {
    return {array(std::move(shapes.at(0)), node.outputs[0].dtype(), primitive, inputs)};
  }
  std::vector<Dtype> types;
  for (const auto& out : node.outputs) types.push_back(out.dtype());
  return array::make_arrays(std::move(shapes), types, primitive, inputs);
}

}  // namespace

Trace trace(const ArraysFunction& fun, const std::vector<array>& inputs, bool shapeless) {
  Trace made;
  made.shapeless = shapeless;
  detail::InTracing in_tracing{shapeless};
  for (const auto& in : inputs) {
    array placeholder(in.shape(), in.dtype(), nullptr, {});
    placeholder.set_tracer(true);
    made.inputs.push_back(std::move(placeholder));
  }
  made.outputs = fun(made.inputs);
  made.nodes = nodes_between(made.inputs, made.outputs);
  return made;
}

std::vector<TraceNode> nodes_between(const std::vector<array>& inputs,
                                     const std::vector<array>& outputs) {
  std::unordered_set<std::uintptr_t> placeholders;
  for (const auto& in : inputs) placeholders.insert(in.id());
  auto is_inside = [&](const array& a) {
    return a.has_primitive() && a.status() == array::Status::unscheduled &&
           placeholders.count(a.id()) == 0;
  };
  std::vector<TraceNode> nodes;
  for (const auto& a : topological_order(outputs, is_inside, false)) {
    nodes.push_back({a.primitive_ptr(), a.inputs(), a.outputs()});
  }
  return nodes;
}

std::vector<array> replay(const Trace& trace, const std::vector<array>& inputs) {
  if (inputs.size() != trace.inputs.size()) {
    internal_error("replay", "The numbers of inputs differ.");
  }
  Replacements built;
  for (size_t i = 0; i < inputs.size(); ++i) built.replace(trace.inputs[i], inputs[i]);
  for (const auto& node : trace.nodes) {
    // The function captured this value, and it has been evaluated since.
    if (node.outputs[0].status() != array::Status::unscheduled) continue;
    auto outputs = build(node, built(node.inputs), trace.shapeless);
    for (size_t i = 0; i < outputs.size(); ++i) built.replace(node.outputs[i], outputs[i]);
  }
  return built(trace.outputs);
}

array Replacements::operator()(const array& value) const {
  const array* at = &value;
  for (auto it = by_.find(at->id()); it != by_.end() && it->second.id() != at->id();
       it = by_.find(at->id())) {
    at = &it->second;
  }
  return *at;
}

std::vector<array> Replacements::operator()(const std::vector<array>& values) const {
  std::vector<array> out;
  out.reserve(values.size());
  for (const auto& value : values) out.push_back((*this)(value));
  return out;
}

bool is_scalar_constant(const array& value) {
  return value.size() == 1 && value.ndim() == 0 && !value.has_primitive() &&
         value.data_shared_ptr() && value.is_available();
}

}  // namespace mlx::core
