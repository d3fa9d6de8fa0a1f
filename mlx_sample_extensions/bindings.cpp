// The Python module of the sample package.
#include "axpby/axpby.h"
#include "grid_sample/grid_sample.h"
#include "mlx/python/casters.h"

namespace py = pybind11;
using namespace pybind11::literals;

void bind_points(py::module_& m);
void bind_sparse_products(py::module_& m);

PYBIND11_MODULE(_ext, m) {
  m.doc() = "Operations that extend the array library from outside.";
  m.def("axpby", &mlx_sample::axpby, "x"_a, "y"_a, py::pos_only(), "alpha"_a, "beta"_a,
        py::kw_only(), "stream"_a = py::none(),
        R"(alpha * x + beta * y as one operation.

x and y broadcast as NumPy's do; integers become float32.

Args:
    x (array): The first operand.
    y (array): The second operand.
    alpha (float): Factor of x.
    beta (float): Factor of y.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: The sum.)");
  m.def("grid_sample", &mlx_sample::grid_sample, "x"_a, "grid"_a, py::pos_only(),
        "mode"_a = "bilinear", "padding_mode"_a = "zeros", "align_corners"_a = false, py::kw_only(),
        "stream"_a = py::none(),
        R"(Samples pictures at any points.

Args:
    x (array): Pictures, of shape (N, H, W, C).
    grid (array): Points as (column, row), of shape (N, H', W', 2). The edges of the pictures are at
        -1 and 1.
    mode (str): "bilinear", "nearest" or "bicubic".
    padding_mode (str): What is outside: "zeros", "border" or "reflection".
    align_corners (bool): Whether -1 and 1 are the middles of the outermost pixels rather than their
        outer edges.
    stream (Stream or Device, optional): Where to run.

Returns:
    array: Values, of shape (N, H', W', C).)");
  bind_points(m);
  bind_sparse_products(m);
}
