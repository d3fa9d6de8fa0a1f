// Takes precedence over MLX's own header of this name, which uses features of Apple's compiler to
// define functions of bfloat. Here metal_stdlib has these functions.
#pragma once

#include <metal_stdlib>
