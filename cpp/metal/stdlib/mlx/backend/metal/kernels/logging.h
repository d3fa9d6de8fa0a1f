// Metal's logs under MLX's name.
#pragma once

#include <metal_logging>

namespace mlx {
using os_log = metal::os_log;
}  // namespace mlx
