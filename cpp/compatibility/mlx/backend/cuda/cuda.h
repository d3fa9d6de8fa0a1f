// Whether kernels that are written in CUDA can run: no, also where Metal kernels run on such a GPU.
#pragma once

namespace mlx::core::cu {

inline bool is_available() { return false; }

}  // namespace mlx::core::cu
