// A matrix product whose threadgroups go through tiles of both matrices in threadgroup memory.
#pragma once

#include "mlx/backend/metal/kernels/steel/defines.h"
#include "mlx/backend/metal/kernels/steel/gemm/loader.h"
#include "mlx/backend/metal/kernels/steel/gemm/mma.h"
#include "mlx/backend/metal/kernels/steel/gemm/params.h"
#include "mlx/backend/metal/kernels/steel/gemm/transforms.h"
#include "mlx/backend/metal/kernels/steel/utils.h"

using namespace metal;

namespace mlx {
namespace steel {

// Which sizes are known to be multiples of the block's.
template <bool M_aligned, bool N_aligned, bool K_aligned>
struct LoopAlignment {};

// D = Epilogue(A B): a threadgroup of WM x WN SIMD-groups computes a block of BM x BN elements, and
// takes BK columns of A and rows of B at a time.
template <typename T, typename U, int BM, int BN, int BK, int WM, int WN, bool transpose_a,
          bool transpose_b, bool MN_aligned, bool K_aligned,
          typename AccumType = typename AccumHelper<T>::accum_type,
          typename Epilogue = TransformNone<U, AccumType>>
struct GEMMKernel {
  // Rows in threadgroup memory are padded, so that those of a column use different banks.
  STEEL_CONST short tgp_padding_a = 16 / sizeof(T);
  STEEL_CONST short tgp_padding_b = 16 / sizeof(T);
  STEEL_CONST short tgp_mem_size_a =
      transpose_a ? BK * (BM + tgp_padding_a) : BM * (BK + tgp_padding_a);
  STEEL_CONST short tgp_mem_size_b =
      transpose_b ? BN * (BK + tgp_padding_b) : BK * (BN + tgp_padding_b);
  STEEL_CONST short tgp_mem_size = tgp_mem_size_a + tgp_mem_size_b;

  STEEL_CONST short tgp_size = WM * WN * 32;

  using loader_a_t =
      BlockLoader<T, transpose_a ? BK : BM, transpose_a ? BM : BK,
                  transpose_a ? BM + tgp_padding_a : BK + tgp_padding_a, !transpose_a, tgp_size>;
  using loader_b_t =
      BlockLoader<T, transpose_b ? BN : BK, transpose_b ? BK : BN,
                  transpose_b ? BK + tgp_padding_b : BN + tgp_padding_b, transpose_b, tgp_size>;
  using mma_t =
      BlockMMA<T, U, BM, BN, BK, WM, WN, transpose_a, transpose_b,
               transpose_a ? BM + tgp_padding_a : BK + tgp_padding_a,
               transpose_b ? BK + tgp_padding_b : BN + tgp_padding_b, AccumType, Epilogue>;

  // Adds up gemm_k_iterations whole blocks of K, and if K is not aligned, the lbk columns of A and
  // rows of B that follow. The block of results has tgp_bm rows and tgp_bn columns.
  template <bool M_aligned, bool N_aligned, bool K_aligned_>
  static METAL_FUNC void gemm_loop(threadgroup T* As [[threadgroup(0)]],
                                   threadgroup T* Bs [[threadgroup(1)]],
                                   const int gemm_k_iterations, thread loader_a_t& loader_a,
                                   thread loader_b_t& loader_b, thread mma_t& mma_op,
                                   thread const short& tgp_bm, thread const short& tgp_bn,
                                   thread const short& lbk,
                                   LoopAlignment<M_aligned, N_aligned, K_aligned_> = {}) {
    for (int k = 0; k < gemm_k_iterations; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      load_tile<M_aligned>(loader_a, part_of_a(tgp_bm, BK));
      load_tile<N_aligned>(loader_b, part_of_b(tgp_bn, BK));
      threadgroup_barrier(mem_flags::mem_threadgroup);
      mma_op.mma(As, Bs);
      loader_a.next();
      loader_b.next();
    }
    if (!K_aligned_) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      loader_a.load_safe(part_of_a(tgp_bm, lbk));
      loader_b.load_safe(part_of_b(tgp_bn, lbk));
      threadgroup_barrier(mem_flags::mem_threadgroup);
      mma_op.mma(As, Bs);
    }
  }

  static METAL_FUNC void run(
      const device T* A [[buffer(0)]], const device T* B [[buffer(1)]], device U* D [[buffer(2)]],
      const constant GEMMParams* params [[buffer(3)]], threadgroup T* As [[threadgroup(0)]],
      threadgroup T* Bs [[threadgroup(1)]], uint simd_lane_id [[thread_index_in_simdgroup]],
      uint simd_group_id [[simdgroup_index_in_threadgroup]],
      uint3 tid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
    (void)lid;
    const int2 tile = BlockSwizzle::swizzle(tid, params->swizzle_log);
    if (params->tiles_n <= tile.x || params->tiles_m <= tile.y) return;

    const int c_row = tile.y * BM, c_col = tile.x * BN;
    A += transpose_a ? size_t(c_row) : size_t(c_row) * params->lda;
    B += transpose_b ? size_t(c_col) * params->ldb : size_t(c_col);
    D += size_t(c_row) * params->ldd + c_col;

    thread loader_a_t loader_a(A, params->lda, As, simd_group_id, simd_lane_id);
    thread loader_b_t loader_b(B, params->ldb, Bs, simd_group_id, simd_lane_id);
    thread mma_t mma_op(simd_group_id, simd_lane_id);

    const int iterations = params->gemm_k_iterations_aligned;
    const short lbk = K_aligned ? 0 : params->K - iterations * BK;
    const short rows = MN_aligned ? BM : min(BM, params->M - c_row);
    const short columns = MN_aligned ? BN : min(BN, params->N - c_col);

    if (MN_aligned || (rows == BM && columns == BN)) {
      gemm_loop<true, true, K_aligned>(As, Bs, iterations, loader_a, loader_b, mma_op, rows,
                                       columns, lbk);
      mma_op.store_result(D, params->ldd);
      return;
    }
    gemm_loop<false, false, K_aligned>(As, Bs, iterations, loader_a, loader_b, mma_op, rows,
                                       columns, lbk);
    mma_op.store_result_safe(D, params->ldd, short2(columns, rows));
  }

 private:
  static METAL_FUNC short2 part_of_a(short m, short k) {
    return transpose_a ? short2(m, k) : short2(k, m);
  }
  static METAL_FUNC short2 part_of_b(short n, short k) {
    return transpose_b ? short2(k, n) : short2(n, k);
  }
  template <bool aligned, typename Loader>
  static METAL_FUNC void load_tile(thread const Loader& loader, short2 part) {
    if (aligned) {
      loader.load_unsafe();
    } else {
      loader.load_safe(part);
    }
  }
};

}  // namespace steel
}  // namespace mlx
