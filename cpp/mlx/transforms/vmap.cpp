// vmap: runs a function on tracers for a single element, then replaces its graph by one for all
// elements.
#include <algorithm>
#include <unordered_map>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/primitive.h"
#include "mlx/transforms.h"
#include "mlx/transforms/graph_walk.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

using Function = std::function<std::vector<array>(const std::vector<array>&)>;

int checked_axis(const array& in, int axis) {
  if (axis >= static_cast<int>(in.ndim())) {
    invalid_argument("vmap", message("Axis ", axis, " is out of bounds for an array with ",
                                     in.ndim(), " dimensions."));
  }
  return axis;
}

int length_of_mapped_axes(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int length = -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (axes[i] < 0) {
      continue;
    }
    int n = inputs[i].shape(checked_axis(inputs[i], axes[i]));
    if (length >= 0 && n != length) {
      invalid_argument("vmap", message("The mapped axes must have one length, but have ", length,
                                       " and ", n, "."));
    }
    length = n;
  }
  if (length < 0) {
    invalid_argument("vmap", "At least one input must have a mapped axis.");
  }
  return length;
}

struct Mapped {
  array a;
  int axis;
};

// The array that replaces a node's; a node that does not depend on mapped inputs has no entry.
using MappedArrays = std::unordered_map<std::uintptr_t, Mapped>;

void map_node(const array& node, MappedArrays& mapped, std::vector<array>& kept) {
  std::vector<array> inputs;
  std::vector<int> axes;
  bool any = false;
  size_t followed = num_followed_inputs(node);
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const array& in = node.inputs()[i];
    auto it = i < followed ? mapped.find(in.id()) : mapped.end();
    inputs.push_back(it == mapped.end() ? in : it->second.a);
    axes.push_back(it == mapped.end() ? -1 : it->second.axis);
    any = any || axes.back() >= 0;
  }
  if (!any) {
    return;
  }
  auto [results, result_axes] = node.primitive().vmap(inputs, axes);
  auto outputs = node.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    mapped.insert_or_assign(outputs[i].id(), Mapped{results.at(i), result_axes.at(i)});
    kept.push_back(outputs[i]);  // so that no other array gets its id
  }
}

}  // namespace

std::pair<std::vector<array>, std::vector<array>> detail::vmap_trace(
    const Function& fun, const std::vector<array>& inputs, const std::vector<int>& in_axes) {
  if (in_axes.size() != inputs.size()) {
    invalid_argument("vmap",
                     message("Got ", in_axes.size(), " axes for ", inputs.size(), " inputs."));
  }
  length_of_mapped_axes(inputs, in_axes);
  InTracing in_tracing;
  std::vector<array> elements;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (in_axes[i] < 0) {
      elements.push_back(inputs[i]);
      continue;
    }
    Shape shape = inputs[i].shape();
    shape.erase(shape.begin() + in_axes[i]);
    array element(std::move(shape), inputs[i].dtype(), nullptr, {});
    element.set_tracer(true);
    elements.push_back(std::move(element));
  }
  return {elements, fun(elements)};
}

std::vector<array> detail::vmap_replace(const std::vector<array>& inputs,
                                        const std::vector<array>& s_inputs,
                                        const std::vector<array>& s_outputs,
                                        const std::vector<int>& in_axes,
                                        const std::vector<int>& out_axes) {
  if (out_axes.size() != s_outputs.size()) {
    invalid_argument("vmap",
                     message("Got ", out_axes.size(), " axes for ", s_outputs.size(), " outputs."));
  }
  int length = length_of_mapped_axes(inputs, in_axes);
  InTracing in_tracing;
  MappedArrays mapped;
  std::vector<array> kept;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (in_axes[i] >= 0) {
      mapped.insert_or_assign(s_inputs[i].id(), Mapped{inputs[i], in_axes[i]});
    }
  }
  auto inside = [&](const array& a) {
    return a.is_tracer() && a.has_primitive() && mapped.count(a.id()) == 0;
  };
  for (const auto& node : topological_order(s_outputs, inside, true)) {
    map_node(node, mapped, kept);
  }

  std::vector<array> outputs;
  for (size_t i = 0; i < s_outputs.size(); ++i) {
    auto it = mapped.find(s_outputs[i].id());
    array out = it == mapped.end() ? s_outputs[i] : it->second.a;
    int axis = it == mapped.end() ? -1 : it->second.axis;
    if (out_axes[i] < 0) {
      outputs.push_back(out);
      continue;
    }
    int ndim = static_cast<int>(out.ndim()) + (axis < 0);
    if (out_axes[i] >= ndim) {
      invalid_argument("vmap",
                       message("Axis ", out_axes[i], " is out of bounds for an output with ", ndim,
                               " dimensions."));
    }
    if (axis < 0) {
      Shape shape = out.shape();
      shape.insert(shape.begin() + out_axes[i], length);
      out = broadcast_to(expand_dims(out, out_axes[i]), shape);
    } else {
      out = moveaxis(out, axis, out_axes[i]);
    }
    outputs.push_back(out);
  }
  return outputs;
}

Function vmap(const Function& fun, const std::vector<int>& in_axes,
              const std::vector<int>& out_axes) {
  return [fun, in_axes, out_axes](const std::vector<array>& inputs) {
    auto axes_or_zeros = [](std::vector<int> axes, size_t count) {
      return axes.empty() ? std::vector<int>(count, 0) : axes;
    };
    auto in = axes_or_zeros(in_axes, inputs.size());
    auto [s_inputs, s_outputs] = detail::vmap_trace(fun, inputs, in);
    return detail::vmap_replace(inputs, s_inputs, s_outputs, in,
                                axes_or_zeros(out_axes, s_outputs.size()));
  };
}

std::function<array(const array&)> vmap(const std::function<array(const array&)>& fun, int in_axis,
                                        int out_axis) {
  auto vector_fun = [fun](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs[0])};
  };
  return [inner = vmap(Function(vector_fun), {in_axis}, {out_axis})](const array& input) {
    return inner({input})[0];
  };
}

std::function<array(const array&, const array&)> vmap(
    const std::function<array(const array&, const array&)>& fun, int in_axis_a, int in_axis_b,
    int out_axis) {
  auto vector_fun = [fun](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs[0], inputs[1])};
  };
  return [inner = vmap(Function(vector_fun), {in_axis_a, in_axis_b}, {out_axis})](
             const array& a, const array& b) { return inner({a, b})[0]; };
}

}  // namespace mlx::core
