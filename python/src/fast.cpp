// mlx.core.fast: operations that come as one kernel, and kernels of the user's own.
#include "module.h"

#ifdef MLX_HAS_METAL_KERNEL
void init_fast_metal_kernel(py::module_& fast);
#endif

void init_fast(py::module_& parent) {
  py::module_ m =
      parent.def_submodule("fast", "Operations that come as one kernel, and kernels of one's own.");
#ifdef MLX_HAS_METAL_KERNEL
  init_fast_metal_kernel(m);
#endif
}
