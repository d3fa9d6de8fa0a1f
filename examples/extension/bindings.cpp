// The Python module.
#include "mlx/python/casters.h"
#include "swiglu/swiglu.h"

namespace py = pybind11;
using namespace pybind11::literals;

PYBIND11_MODULE(_ext, m) {
  m.def("swiglu", &swiglu::swiglu, "gate"_a, "up"_a, py::kw_only(), "stream"_a = py::none(),
        "gate * sigmoid(gate) * up, elementwise.");
}
