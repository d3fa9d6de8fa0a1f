// Arithmetic of two arrays.
#include "mlx/backend/metal/kernels/binary.h"

MLX_FOR_ALL(BINARY, Add)
MLX_FOR_ALL(BINARY, Subtract)
MLX_FOR_ALL(BINARY, Multiply)
MLX_FOR_ALL(BINARY, Divide)
MLX_FOR_ALL(BINARY, Remainder)
MLX_FOR_ALL(BINARY, Power)
MLX_FOR_ALL(BINARY, Maximum)
MLX_FOR_ALL(BINARY, Minimum)
MLX_FOR_FLOATS(BINARY, LogAddExp)
MLX_FOR_COMPLEX(BINARY, LogAddExp)
MLX_FOR_FLOATS(BINARY, ArcTan2)
