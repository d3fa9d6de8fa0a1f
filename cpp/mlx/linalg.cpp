// Linear algebra beyond products.
#include "mlx/linalg.h"

#include "mlx/errors.h"
#include "mlx/primitives/linear.h"

namespace mlx::core::linalg {

std::vector<array> svd(const array& a, bool compute_uv, StreamOrDevice s) {
  if (a.dtype() != float32 && a.dtype() != float64) {
    invalid_argument("linalg::svd",
                     message("The type must be float32 or float64, not ", a.dtype(), "."));
  }
  if (a.ndim() < 2) {
    invalid_argument(
        "linalg::svd",
        message("The array must have at least 2 dimensions, but has shape ", a.shape(), "."));
  }
  auto primitive = std::make_shared<SVD>(to_stream(s), compute_uv);
  auto shapes = primitive->output_shapes({a});
  return array::make_arrays(shapes, std::vector<Dtype>(shapes.size(), a.dtype()), primitive, {a});
}

}  // namespace mlx::core::linalg
