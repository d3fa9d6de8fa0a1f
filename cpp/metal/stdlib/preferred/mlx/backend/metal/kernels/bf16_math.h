// Found before MLX's own header of this name, which defines functions of bfloat by means that only
// Apple's compiler has. Here metal_stdlib has these functions.
#pragma once

#include <metal_stdlib>
