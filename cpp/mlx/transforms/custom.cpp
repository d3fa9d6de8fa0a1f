// Functions with custom rules for transformations.
#include <algorithm>

#include "mlx/ops.h"
#include "mlx/primitives/graph.h"
#include "mlx/transforms.h"

namespace mlx::core {

namespace {

using Function = std::function<std::vector<array>(const std::vector<array>&)>;
using Vjp = CustomTransforms::Vjp;
using Jvp = CustomTransforms::Jvp;
using Vmap = CustomTransforms::Vmap;

std::vector<array> joined(std::initializer_list<std::vector<array>> parts) {
  std::vector<array> out;
  for (const auto& part : parts) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

// ---- default rules: what the function's own operations would do ----

Vjp default_vjp(const Function& fun) {
  return [fun](const std::vector<array>& primals, const std::vector<array>& cotangents,
               const std::vector<array>&) { return vjp(fun, primals, cotangents).second; };
}

Jvp default_jvp(const Function& fun) {
  return [fun](const std::vector<array>& primals, const std::vector<array>& tangents,
               const std::vector<int>& argnums) {
    std::vector<array> all;
    for (const auto& p : primals) {
      all.push_back(zeros_like(p));
    }
    for (size_t i = 0; i < argnums.size(); ++i) {
      all[argnums[i]] = tangents[i];
    }
    return jvp(fun, primals, all).second;
  };
}

// The vjp rule of the mapped function. Its outputs have the mapped axis in front.
Vjp mapped_vjp(const Vjp& rule, const std::vector<int>& axes) {
  return [rule, axes](const std::vector<array>& primals, const std::vector<array>& cotangents,
                      const std::vector<array>& outputs) {
    size_t n = primals.size();
    size_t m = cotangents.size();
    auto element = [&](const std::vector<array>& all) {
      auto at = all.begin();
      return rule({at, at + n}, {at + n, at + n + m}, {at + n + m, all.end()});
    };
    std::vector<int> in_axes = axes;
    in_axes.resize(n + m + outputs.size(), 0);
    auto vjps = vmap(element, in_axes)(joined({primals, cotangents, outputs}));
    // An argument that is not mapped gets the sum of all elements' cotangents.
    for (size_t i = 0; i < std::min(vjps.size(), n); ++i) {
      vjps[i] = axes[i] < 0 ? sum(vjps[i], 0) : moveaxis(vjps[i], 0, axes[i]);
    }
    return vjps;
  };
}

Jvp mapped_jvp(const Jvp& rule, const std::vector<int>& axes) {
  return [rule, axes](const std::vector<array>& primals, const std::vector<array>& tangents,
                      const std::vector<int>& argnums) {
    size_t n = primals.size();
    auto element = [&](const std::vector<array>& all) {
      return rule({all.begin(), all.begin() + n}, {all.begin() + n, all.end()}, argnums);
    };
    std::vector<int> in_axes = axes;
    for (int arg : argnums) {
      in_axes.push_back(axes[arg]);
    }
    return vmap(element, in_axes)(joined({primals, tangents}));
  };
}

// Maps the function and its custom rules.
Vmap default_vmap(const Function& fun, const std::optional<Vjp>& vjp_rule,
                  const std::optional<Jvp>& jvp_rule) {
  return [=](const std::vector<array>& inputs, const std::vector<int>& axes) {
    std::optional<Vjp> mapped_vjp_rule;
    std::optional<Jvp> mapped_jvp_rule;
    if (vjp_rule) {
      mapped_vjp_rule = mapped_vjp(*vjp_rule, axes);
    }
    if (jvp_rule) {
      mapped_jvp_rule = mapped_jvp(*jvp_rule, axes);
    }
    auto outputs = custom_function(vmap(fun, axes), mapped_vjp_rule, mapped_jvp_rule)(inputs);
    std::vector<int> out_axes(outputs.size(), 0);
    return std::pair{std::move(outputs), std::move(out_axes)};
  };
}

}  // namespace

Function custom_function(Function fun, std::optional<Vjp> fun_vjp, std::optional<Jvp> fun_jvp,
                         std::optional<Vmap> fun_vmap) {
  if (!fun_vjp && !fun_jvp && !fun_vmap) {
    return fun;
  }
  return [fun, vjp_rule = fun_vjp ? *fun_vjp : default_vjp(fun),
          jvp_rule = fun_jvp ? *fun_jvp : default_jvp(fun),
          vmap_rule = fun_vmap ? *fun_vmap : default_vmap(fun, fun_vjp, fun_jvp)](
             const std::vector<array>& arguments) {
    auto outputs = fun(arguments);
    if (outputs.empty()) {
      return outputs;
    }
    std::vector<Shape> shapes;
    std::vector<Dtype> dtypes;
    for (const auto& out : outputs) {
      shapes.push_back(out.shape());
      dtypes.push_back(out.dtype());
    }
    Stream stream = outputs[0].pending_stream().value_or(to_stream({}));
    auto primitive = std::make_shared<CustomTransforms>(stream, static_cast<int>(outputs.size()),
                                                        vjp_rule, jvp_rule, vmap_rule);
    return array::make_arrays(std::move(shapes), dtypes, primitive, joined({arguments, outputs}));
  };
}

Function custom_vjp(Function fun, Vjp fun_vjp) {
  return custom_function(std::move(fun), std::move(fun_vjp));
}

Function checkpoint(Function fun) {
  auto recompute = [fun](const std::vector<array>& primals, const std::vector<array>& cotangents,
                         const std::vector<array>&) {
    // The dependency delays the recomputation until the cotangents are computed.
    return vjp(fun, depends(primals, cotangents), cotangents).second;
  };
  return custom_function(fun, recompute);
}

}  // namespace mlx::core
