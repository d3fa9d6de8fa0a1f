// Primitives that act on the graph only.
#include "mlx/primitives/graph.h"

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

// ---- StopGradient ----

std::vector<array> StopGradient::jvp(const std::vector<array>&, const std::vector<array>& tangents,
                                     const std::vector<int>&) {
  return {zeros_like(tangents[0], stream())};
}

std::vector<array> StopGradient::vjp(const std::vector<array>& primals, const std::vector<array>&,
                                     const std::vector<int>& argnums, const std::vector<array>&) {
  return zero_cotangents(primals, argnums, stream());
}

VmapResult StopGradient::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{stop_gradient(inputs[0], stream())}, {axes[0]}};
}

// ---- Depends ----

std::vector<array> Depends::jvp(const std::vector<array>& primals,
                                const std::vector<array>& tangents,
                                const std::vector<int>& argnums) {
  // The outputs are the first inputs. Only the outputs show their number, so tangents for all
  // inputs are returned.
  std::vector<array> out;
  for (int i = 0; i < static_cast<int>(primals.size()); ++i) {
    int at = position(argnums, i);
    out.push_back(at < 0 ? zeros_like(primals[i], stream()) : tangents[at]);
  }
  return out;
}

std::vector<array> Depends::vjp(const std::vector<array>& primals,
                                const std::vector<array>& cotangents,
                                const std::vector<int>& argnums, const std::vector<array>&) {
  std::vector<array> vjps;
  for (int arg : argnums) {
    bool passed_on = arg < static_cast<int>(cotangents.size());
    vjps.push_back(passed_on ? cotangents[arg] : zeros_like(primals[arg], stream()));
  }
  return vjps;
}

VmapResult Depends::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {inputs, axes};
}

std::vector<Shape> Depends::output_shapes(const std::vector<array>& inputs) {
  std::vector<Shape> shapes;
  for (const auto& in : inputs) shapes.push_back(in.shape());
  return shapes;
}

// ---- CustomTransforms ----

std::vector<Shape> CustomTransforms::output_shapes(const std::vector<array>& inputs) {
  std::vector<Shape> shapes;
  for (auto in = inputs.end() - num_outputs_; in != inputs.end(); ++in) {
    shapes.push_back(in->shape());
  }
  return shapes;
}

std::vector<array> CustomTransforms::jvp(const std::vector<array>& primals,
                                         const std::vector<array>& tangents,
                                         const std::vector<int>& argnums) {
  std::vector<array> arguments(primals.begin(), primals.end() - num_outputs_);
  return jvp_fun_(arguments, tangents, argnums);
}

std::vector<array> CustomTransforms::vjp(const std::vector<array>& primals,
                                         const std::vector<array>& cotangents,
                                         const std::vector<int>& argnums,
                                         const std::vector<array>& outputs) {
  std::vector<array> arguments(primals.begin(), primals.end() - num_outputs_);
  auto all = vjp_fun_(arguments, cotangents, outputs);
  if (all.size() > arguments.size()) {
    invalid_argument("custom_function", message("The vjp returned ", all.size(), " arrays for ",
                                                arguments.size(), " arguments."));
  }
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg >= static_cast<int>(all.size())) {
      invalid_argument("custom_function",
                       message("Expected a gradient for argument ", arg, ", but the rule returned ",
                               all.size(), " for ", arguments.size(), " arguments."));
    }
    if (all[arg].shape() != arguments[arg].shape()) {
      invalid_argument("custom_function",
                       message("The vjp returned an array of shape ", all[arg].shape(),
                               " for argument ", arg, " of shape ", arguments[arg].shape(), "."));
    }
    vjps.push_back(all[arg]);
  }
  return vjps;
}

VmapResult CustomTransforms::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  std::vector<array> arguments(inputs.begin(), inputs.end() - num_outputs_);
  return vmap_fun_(arguments, std::vector<int>(axes.begin(), axes.end() - num_outputs_));
}

}  // namespace mlx::core
