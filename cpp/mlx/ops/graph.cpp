// Operations that act on the graph only.
#include "mlx/ops/graph.h"

#include "mlx/ops/build.h"
#include "mlx/primitives/graph.h"

namespace mlx::core {

array stop_gradient(const array& a, StreamOrDevice s) {
  return elementwise<StopGradient>({a}, a.dtype(), to_stream(s));
}

std::vector<array> depends(const std::vector<array>& inputs,
                           const std::vector<array>& dependencies) {
  std::vector<array> all = inputs;
  all.insert(all.end(), dependencies.begin(), dependencies.end());
  std::vector<Shape> shapes;
  std::vector<Dtype> dtypes;
  for (const auto& in : inputs) {
    shapes.push_back(in.shape());
    dtypes.push_back(in.dtype());
  }
  if (inputs.empty()) {
    return {};
  }
  Stream stream = inputs[0].pending_stream().value_or(to_stream({}));
  return array::make_arrays(shapes, dtypes, std::make_shared<Depends>(stream), all);
}

}  // namespace mlx::core
