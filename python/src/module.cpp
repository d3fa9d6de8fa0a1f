// The module mlx.core.
#include "module.h"

#include "mlx/version.h"

PYBIND11_MODULE(core, m) {
  m.doc() = "Arrays with MLX's API, and Metal kernels that run without Apple hardware.";
  m.attr("__version__") = mlx::core::version();
  init_dtype(m);
  init_device(m);
  init_array(m);
  init_stream(m);
  init_memory(m);
  init_metal(m);
  init_constants(m);
  init_ops(m);
  init_random(m);
  init_linalg(m);
  init_fast(m);
  init_transforms(m);
}
