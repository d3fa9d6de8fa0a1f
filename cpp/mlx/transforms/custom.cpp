// Functions with rules of their own for transformations.
#include <algorithm>
#include <numeric>

#include "mlx/ops.h"
#include "mlx/primitives/graph.h"
#include "mlx/transforms.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

using Function = std::function<std::vector<array>(const std::vector<array>&)>;

// What the function's own operations would do.
CustomTransforms::Vjp default_vjp(const Function& fun) {
  return [fun](const std::vector<array>& primals, const std::vector<array>& cotangents,
               const std::vector<array>&) { return vjp(fun, primals, cotangents).second; };
}

CustomTransforms::Jvp default_jvp(const Function& fun) {
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

CustomTransforms::Vmap default_vmap(const Function& fun) {
  return [fun](const std::vector<array>& inputs, const std::vector<int>& axes) {
    auto outputs = vmap(fun, axes)(inputs);
    std::vector<int> out_axes(outputs.size(), 0);
    return std::pair{std::move(outputs), std::move(out_axes)};
  };
}

}  // namespace

Function custom_function(Function fun, std::optional<CustomTransforms::Vjp> fun_vjp,
                         std::optional<CustomTransforms::Jvp> fun_jvp,
                         std::optional<CustomTransforms::Vmap> fun_vmap) {
  if (!fun_vjp && !fun_jvp && !fun_vmap) {
    return fun;
  }
  return [fun, vjp_rule = fun_vjp.value_or(default_vjp(fun)),
          jvp_rule = fun_jvp.value_or(default_jvp(fun)),
          vmap_rule = fun_vmap.value_or(default_vmap(fun))](const std::vector<array>& arguments) {
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
    std::vector<array> inputs = arguments;
    inputs.insert(inputs.end(), outputs.begin(), outputs.end());
    Stream stream = outputs[0].has_primitive() ? outputs[0].primitive().stream() : to_stream({});
    auto primitive = std::make_shared<CustomTransforms>(stream, static_cast<int>(outputs.size()),
                                                        vjp_rule, jvp_rule, vmap_rule);
    return array::make_arrays(std::move(shapes), dtypes, primitive, inputs);
  };
}

Function custom_vjp(Function fun, CustomTransforms::Vjp fun_vjp) {
  return custom_function(std::move(fun), std::move(fun_vjp));
}

Function checkpoint(Function fun) {
  auto recompute = [fun](const std::vector<array>& primals, const std::vector<array>& cotangents,
                         const std::vector<array>&) {
    // The values are computed again only once the cotangents are there.
    return vjp(fun, depends(primals, cotangents), cotangents).second;
  };
  return custom_function(fun, recompute);
}

}  // namespace mlx::core
