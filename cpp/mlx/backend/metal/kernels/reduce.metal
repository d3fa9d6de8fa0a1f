// Reductions of arrays: the loops of reduce_loops.h, for each operation and type.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/reduce_loops.h"
#include "mlx/backend/metal/kernels/reduce_ops.h"

#define REDUCE_KERNEL(layout)                                                                    \
  template <typename Op, typename T, typename U>                                                 \
  [[kernel]] void reduce_##layout(const device T* in [[buffer(0)]], device U* out [[buffer(1)]], \
                                  constant const ReduceParams& p [[buffer(2)]],                  \
                                  constant const ReduceStrides* strides [[buffer(3)]],           \
                                  uint3 pos [[thread_position_in_grid]],                         \
                                  uint lane [[thread_index_in_simdgroup]]) {                     \
    layout##_loop<Op>(Elements<T>{in}, out, p, strides, pos, lane);                              \
  }
REDUCE_KERNEL(row)
REDUCE_KERNEL(column)
REDUCE_KERNEL(general)

#define REDUCE_AS(Op, in_name, T, out_name, U)                               \
  MLX_KERNEL(#Op "_row_" #in_name "_" #out_name, reduce_row<Op, T, U>)       \
  MLX_KERNEL(#Op "_column_" #in_name "_" #out_name, reduce_column<Op, T, U>) \
  MLX_KERNEL(#Op "_general_" #in_name "_" #out_name, reduce_general<Op, T, U>)
#define REDUCE(Op, name, T) REDUCE_AS(Op, name, T, name, T)

// 16-bit floats keep float between two passes; sums and products of small integers widen.
#define REDUCE_WIDENING(Op)                                                        \
  REDUCE_AS(Op, float16, half, float32, float)                                     \
  REDUCE_AS(Op, bfloat16, bfloat16_t, float32, float)                              \
  MLX_KERNEL(#Op "_column_float32_float16", reduce_column<Op, float, half>)        \
  MLX_KERNEL(#Op "_column_float32_bfloat16", reduce_column<Op, float, bfloat16_t>) \
  REDUCE_AS(Op, bool_, bool, int32, int32_t)                                       \
  REDUCE_AS(Op, int8, int8_t, int32, int32_t)                                      \
  REDUCE_AS(Op, int16, int16_t, int32, int32_t)                                    \
  REDUCE_AS(Op, uint8, uint8_t, int32, int32_t)                                    \
  REDUCE_AS(Op, uint16, uint16_t, int32, int32_t)                                  \
  REDUCE_AS(Op, uint8, uint8_t, uint32, uint32_t)                                  \
  REDUCE_AS(Op, uint16, uint16_t, uint32, uint32_t)

MLX_FOR_ALL(REDUCE, Sum)
MLX_FOR_ALL(REDUCE, Prod)
MLX_FOR_ALL(REDUCE, Min)
MLX_FOR_ALL(REDUCE, Max)
MLX_FOR_BOOL(REDUCE, And)
MLX_FOR_BOOL(REDUCE, Or)
REDUCE_WIDENING(Sum)
REDUCE_WIDENING(Prod)
