// For extensions made for MLX: the back end's functions for streams of the Metal device.
#pragma once

#include "mlx/backend/gpu/device_info.h"
#include "mlx/backend/metal/eval.h"
#include "mlx/backend/metal/metal.h"

namespace mlx::core::gpu {

inline void new_stream(Stream stream) { metal::new_stream(stream); }
inline void eval(array& arr) { metal::eval(arr); }
inline void finalize(Stream stream) { metal::finalize(stream); }
inline void synchronize(Stream stream) { metal::synchronize(stream); }

}  // namespace mlx::core::gpu
