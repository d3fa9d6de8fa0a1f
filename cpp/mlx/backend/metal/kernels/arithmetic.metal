// Arithmetic of two arrays.
#include "mlx/backend/metal/kernels/binary.h"

// The types that elementwise.def names; logic.metal has those left out here.
#define BINARY_any(Op) MLX_FOR_ALL(BINARY, Op)
#define BINARY_inexact(Op)   \
  MLX_FOR_FLOATS(BINARY, Op) \
  MLX_FOR_COMPLEX(BINARY, Op)
#define BINARY_floating(Op) MLX_FOR_FLOATS(BINARY, Op)
#define BINARY_integral(Op)
#define BINARY_shift(Op)
#define BINARY_logical(Op)
#define BINARY_comparison(Op)

#define MLX_BINARY(Op, function, types, ...) BINARY_##types(Op)
#include "mlx/primitives/elementwise.def"
