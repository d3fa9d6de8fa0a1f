// For extensions made for MLX: the back end's functions for streams of the host.
#pragma once

#include "mlx/backend/metal/eval.h"

namespace mlx::core::cpu {

inline void new_stream(Stream stream) { metal::new_stream(stream); }
inline void eval(array& arr) { metal::eval(arr); }
inline void finalize(Stream stream) { metal::finalize(stream); }
inline void synchronize(Stream stream) { metal::synchronize(stream); }

}  // namespace mlx::core::cpu
