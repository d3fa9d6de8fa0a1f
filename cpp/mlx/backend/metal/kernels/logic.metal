// Comparisons, logical and bitwise operations of two arrays.
#include "mlx/backend/metal/kernels/binary.h"

// The types that elementwise.def names; arithmetic.metal has those left out here.
#define BINARY_any(Op)
#define BINARY_inexact(Op)
#define BINARY_floating(Op)
#define BINARY_integral(Op)    \
  MLX_FOR_INTEGERS(BINARY, Op) \
  MLX_FOR_BOOL(BINARY, Op)
#define BINARY_shift(Op) MLX_FOR_INTEGERS(BINARY, Op)
#define BINARY_logical(Op) MLX_FOR_BOOL(COMPARE, Op)
#define BINARY_comparison(Op) MLX_FOR_ALL(COMPARE, Op)
#define BINARY_inexact_comparison(Op) \
  MLX_FOR_FLOATS(COMPARE, Op)         \
  MLX_FOR_COMPLEX(COMPARE, Op)

#define MLX_BINARY(Op, function, types, ...) BINARY_##types(Op)
#define MLX_BINARY_KERNEL(Op, types, ...) BINARY_##types(Op)
#include "mlx/primitives/elementwise.def"
