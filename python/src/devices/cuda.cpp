// mlx.core.cuda.
#include "mlx/backend/cuda/cuda.h"

#include "module.h"

void init_cuda(py::module_& parent) {
  py::module_ m = parent.def_submodule("cuda", "MLX's CUDA back end, which is not here.");
  m.def("is_available", &mlx::core::cu::is_available,
        "Tells whether kernels that are written in CUDA can run.\n\nReturns:\n    False.");
}
