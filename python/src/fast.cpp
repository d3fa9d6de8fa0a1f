// mlx.core.fast: operations that come as one kernel, and kernels of the user's own.
#include "module.h"

void init_fast_metal_kernel(py::module_& fast);

void init_fast(py::module_& parent) {
  py::module_ m =
      parent.def_submodule("fast", "Operations that come as one kernel, and kernels of one's own.");
  init_fast_metal_kernel(m);
}
