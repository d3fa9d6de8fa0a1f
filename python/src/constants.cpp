// The constants of mlx.core, such as pi.
#include <cmath>
#include <limits>
#include <numbers>

#include "module.h"

void init_constants(py::module_& m) {
  m.attr("e") = std::numbers::e;
  m.attr("euler_gamma") = std::numbers::egamma;
  m.attr("pi") = std::numbers::pi;
  m.attr("inf") = std::numeric_limits<double>::infinity();
  m.attr("nan") = std::numeric_limits<double>::quiet_NaN();
  m.attr("newaxis") = py::none();
}
