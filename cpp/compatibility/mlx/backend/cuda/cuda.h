// For extensions made for MLX: whether kernels written in CUDA can run. They cannot.
#pragma once

namespace mlx::core::cu {

inline bool is_available() { return false; }

}  // namespace mlx::core::cu
