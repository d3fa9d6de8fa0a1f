// Copies tiles of a matrix from device memory to threadgroup memory.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/steel/defines.h"

namespace mlx {
namespace steel {

// The threads of a threadgroup copy BROWS x BCOLS elements together: each one copies n_reads
// neighbouring elements of every TROWS-th row. Element (row, column) of a tile goes to
// dst[row * row_step + column * column_step]. `next` moves on to the next tile along the rows if
// reduction_dim is 1, down the columns if it is 0.
template <typename T, short BROWS, short BCOLS, short row_step, short column_step,
          short reduction_dim, short tgp_size, short n_reads, short TCOLS, short TROWS>
struct __TileLoader {
  STEEL_CONST short n_rows = (BROWS + TROWS - 1) / TROWS;
  STEEL_CONST short vec_size = n_reads;

  const int src_ld;
  const int tile_stride;

  const short thread_idx;
  const short bi;  // the thread's first row
  const short bj;  // and column

  threadgroup T* dst;
  const device T* src;

  METAL_FUNC __TileLoader(const device T* src_, const int src_ld_, threadgroup T* dst_,
                          ushort simd_group_id [[simdgroup_index_in_threadgroup]],
                          ushort simd_lane_id [[thread_index_in_simdgroup]])
      : src_ld(src_ld_),
        tile_stride(reduction_dim ? BCOLS : BROWS * src_ld),
        thread_idx(simd_group_id * 32 + simd_lane_id),
        bi(thread_idx / TCOLS),
        bj(vec_size * (thread_idx % TCOLS)),
        dst(dst_ + bi * row_step + bj * column_step),
        src(src_ + bi * src_ld + bj) {}

  // Replaces each element x that the thread has copied by op.apply(x).
  template <typename UnaryOp>
  METAL_FUNC void apply_inplace_op(thread const UnaryOp& op) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < vec_size; j++) {
        threadgroup T& x = dst[i * row_step + j * column_step];
        x = op.apply(x);
      }
    }
  }

  // The whole tile is inside of the matrix.
  METAL_FUNC void load_unsafe() const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < vec_size; j++)
        dst[i * row_step + j * column_step] = src[i * src_ld + j];
    }
  }

  // Only src_tile_dim (x: columns, y: rows) of the tile are; the others become zeros.
  METAL_FUNC void load_safe(short2 src_tile_dim) const {
    const short columns = src_tile_dim.x - bj, rows = src_tile_dim.y - bi;
    STEEL_PRAGMA_NO_UNROLL
    for (short i = 0; i < BROWS; i += TROWS) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < vec_size; j++) {
        const bool inside = i < rows && j < columns;
        dst[i * row_step + j * column_step] = inside ? src[i * src_ld + j] : T(0);
      }
    }
  }

  METAL_FUNC void next() { src += tile_stride; }
};

// Rows of a tile are dst_ld elements apart in threadgroup memory. The alignment is that of what a
// thread copies, in elements; it is not made use of.
template <typename T, short BROWS, short BCOLS, short dst_ld, short reduction_dim, short tgp_size,
          short alignment = 1, short n_reads = (BCOLS * BROWS) / tgp_size,
          short TCOLS = BCOLS / n_reads, short TROWS = tgp_size / TCOLS>
struct BlockLoader
    : __TileLoader<T, BROWS, BCOLS, dst_ld, 1, reduction_dim, tgp_size, n_reads, TCOLS, TROWS> {
  using __TileLoader<T, BROWS, BCOLS, dst_ld, 1, reduction_dim, tgp_size, n_reads, TCOLS,
                     TROWS>::__TileLoader;
};

}  // namespace steel
}  // namespace mlx
