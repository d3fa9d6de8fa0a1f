// mlx.core.linalg.
#include "mlx/linalg.h"

#include "arguments.h"
#include "module.h"

using namespace pybind11::literals;

const char* const kSvdDoc =
    R"(svd(a: array, compute_uv: bool = True, *, stream: StreamOrDevice = None) -> tuple[array, array, array]

Computes the singular value decomposition of matrices: `a = (U * S) @ Vt`.

Args:
    a: The matrices, of shape (..., n, m).
    compute_uv: Whether U and Vt are computed too.

Returns:
    U of shape (..., n, n), S of shape (..., min(n, m)) and Vt of shape (..., m, m); S alone if
    `compute_uv` is False.)";

void init_linalg(py::module_& parent) {
  py::module_ m = parent.def_submodule("linalg", "Linear algebra.");
  m.def(
      "svd",
      [](const mx::array& a, bool compute_uv, StreamArg s) -> py::object {
        auto parts = mx::linalg::svd(a, compute_uv, s);
        if (!compute_uv) return py::cast(parts[0]);
        return to_tuple(parts);
      },
      "a"_a, "compute_uv"_a = true, py::kw_only(), "stream"_a = py::none(), kSvdDoc);
}
