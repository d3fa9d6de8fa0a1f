// Copies tiles of queries, keys and values, also transposed, to threadgroup memory.
#pragma once

#include "mlx/backend/metal/kernels/steel/gemm/loader.h"

namespace mlx {
namespace steel {

template <int R, int C>
struct CShape {
  STEEL_CONST int kRows = R;
  STEEL_CONST int kCols = C;
};

// Element (row, column) of a tile goes to dst[row * kDstStrRow + column * kDstStrCol].
template <typename T, short BROWS, short BCOLS, short kDstStrRow, short kDstStrCol,
          short reduction_dim, short tgp_size, short n_reads = (BCOLS * BROWS) / tgp_size,
          short TCOLS = BCOLS / n_reads, short TROWS = tgp_size / TCOLS>
struct BlockLoaderT : __TileLoader<T, BROWS, BCOLS, kDstStrRow, kDstStrCol, reduction_dim, tgp_size,
                                   n_reads, TCOLS, TROWS> {
  using __TileLoader<T, BROWS, BCOLS, kDstStrRow, kDstStrCol, reduction_dim, tgp_size, n_reads,
                     TCOLS, TROWS>::__TileLoader;
};

}  // namespace steel
}  // namespace mlx
