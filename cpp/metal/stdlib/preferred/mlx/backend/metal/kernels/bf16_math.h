// Found before any other header of this name: MLX's own defines for Apple's compiler what
// metal_stdlib has here, functions of bfloat, and by means that only that compiler has.
#pragma once

#include <metal_stdlib>
