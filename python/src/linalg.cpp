// mlx.core.linalg.
#include "mlx/linalg.h"

#include "arguments.h"
#include "module.h"

using namespace pybind11::literals;

void init_linalg(py::module_& parent) {
  py::module_ m = parent.def_submodule("linalg", "Linear algebra.");
  m.def(
      "svd",
      [](const mx::array& a, bool compute_uv, StreamArg s) -> py::object {
        auto parts = mx::linalg::svd(a, compute_uv, s);
        if (!compute_uv) return py::cast(parts[0]);
        return to_tuple(parts);
      },
      "a"_a, "compute_uv"_a = true, py::kw_only(), "stream"_a = py::none(),
      "The singular value decomposition U, S, Vt, or S alone.");
}
