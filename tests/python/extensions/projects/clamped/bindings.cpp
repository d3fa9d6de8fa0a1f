#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "clamped_sum/clamped_sum.h"

namespace py = pybind11;
using namespace py::literals;
using namespace mlx::core;

PYBIND11_MODULE(mlx_clamped, m) {
  m.doc() = "Clamped sums";
  m.def("clamped_sum", &clamped_sum, "a"_a, "b"_a, py::pos_only(), "low"_a, "high"_a, py::kw_only(),
        "stream"_a = py::none());
}
