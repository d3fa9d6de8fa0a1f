// Matrices in the registers of SIMD-groups: fragments of 8x8, tiles of fragments, and a block of
// tiles, in which the SIMD-groups of a threadgroup compute a product.
#pragma once

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/steel/defines.h"
#include "mlx/backend/metal/kernels/steel/gemm/transforms.h"
#include "mlx/backend/metal/kernels/steel/utils/integral_constant.h"

using namespace metal;

namespace mlx {
namespace steel {

// ---- fragments ----

// Steps, limits and offsets of the functions below may be integral constants; those named x count
// rows, those named y columns. Pointers are the lane's own: to the element at get_coord.
template <typename T, int kFragRows_, int kFragCols_>
struct BaseMMAFrag {
  static_assert(kFragRows_ == 8 && kFragCols_ == 8, "BaseMMAFrag: only 8x8 fragments exist");
};

template <typename T>
struct BaseMMAFrag<T, 8, 8> {
  STEEL_CONST int kFragRows = 8;
  STEEL_CONST int kFragCols = 8;

  // What one lane has of a fragment.
  STEEL_CONST int kElemsPerFrag = 2;
  STEEL_CONST int kElemRows = 1;
  STEEL_CONST int kElemCols = 2;

  typedef metal::simdgroup_matrix<T, kFragRows, kFragCols> mat_type;
  typedef metal::vec<T, kElemsPerFrag> frag_type;
  typedef metal::vec<T, kElemRows> row_frag_type;
  typedef metal::vec<T, kElemCols> col_frag_type;
  template <typename U>
  using dtype_mat_t = metal::simdgroup_matrix<U, kFragRows, kFragCols>;
  template <typename U>
  using dtype_frag_t = metal::vec<U, kElemsPerFrag>;

  // The column (x) and row (y) of the lane's first element.
  METAL_FUNC static constexpr short2 get_coord(ushort simd_lane_id [[thread_index_in_simdgroup]]) {
    const short quad = simd_lane_id / 4;
    return short2((quad & 2) * 2 + simd_lane_id % 2 * 2, (quad & 4) + simd_lane_id / 2 % 4);
  }

  template <typename SrcPtrType, typename StrX, typename StrY>
  METAL_FUNC static constexpr void load(thread frag_type& dst, SrcPtrType src, StrX str_x,
                                        StrY str_y) {
    (void)str_x;  // a lane's elements are in one row
    STEEL_PRAGMA_UNROLL
    for (short j = 0; j < kElemCols; j++) dst[j] = static_cast<T>(src[j * str_y]);
  }

  template <typename SrcPtrType, typename StrX, typename StrY, typename LimX, typename LimY,
            typename OffX = Int<0>, typename OffY = Int<0>>
  METAL_FUNC static constexpr void load_safe(thread frag_type& dst, SrcPtrType src, StrX str_x,
                                             StrY str_y, LimX lim_x, LimY lim_y,
                                             OffX off_x = Int<0>(), OffY off_y = Int<0>()) {
    STEEL_PRAGMA_UNROLL
    for (short j = 0; j < kElemCols; j++) {
      const bool inside = off_x < lim_x && off_y + j < lim_y;
      dst[j] = inside ? static_cast<T>(src[off_x * str_x + (off_y + j) * str_y]) : T(0);
    }
  }

  template <typename DstPtrType, typename StrX, typename StrY>
  METAL_FUNC static constexpr void store(const thread frag_type& src, DstPtrType dst, StrX str_x,
                                         StrY str_y) {
    using U = pointer_element_t<DstPtrType>;
    (void)str_x;
    STEEL_PRAGMA_UNROLL
    for (short j = 0; j < kElemCols; j++) dst[j * str_y] = static_cast<U>(src[j]);
  }

  template <typename DstPtrType, typename StrX, typename StrY, typename LimX, typename LimY,
            typename OffX = Int<0>, typename OffY = Int<0>>
  METAL_FUNC static constexpr void store_safe(const thread frag_type& src, DstPtrType dst,
                                              StrX str_x, StrY str_y, LimX lim_x, LimY lim_y,
                                              OffX off_x = Int<0>(), OffY off_y = Int<0>()) {
    store_slice(src, dst, str_x, str_y, Int<0>(), lim_x, Int<0>(), lim_y, off_x, off_y);
  }

  // Stores rows start_x to stop_x, and of these the columns start_y to stop_y.
  template <typename DstPtrType, typename StrX, typename StrY, typename StartX, typename StopX,
            typename StartY, typename StopY, typename OffX = Int<0>, typename OffY = Int<0>>
  METAL_FUNC static constexpr void store_slice(const thread frag_type& src, DstPtrType dst,
                                               StrX str_x, StrY str_y, StartX start_x, StopX stop_x,
                                               StartY start_y, StopY stop_y, OffX off_x = Int<0>(),
                                               OffY off_y = Int<0>()) {
    using U = pointer_element_t<DstPtrType>;
    STEEL_PRAGMA_UNROLL
    for (short j = 0; j < kElemCols; j++) {
      const auto y = off_y + j;
      if (off_x >= start_x && off_x < stop_x && y >= start_y && y < stop_y)
        dst[off_x * str_x + y * str_y] = static_cast<U>(src[j]);
    }
  }

  // D = A B + C
  template <typename Atype, typename Btype>
  METAL_FUNC static constexpr void mma(thread frag_type& D, thread dtype_frag_t<Atype>& A,
                                       thread dtype_frag_t<Btype>& B, thread frag_type& C) {
    dtype_mat_t<Atype> A_mat;
    dtype_mat_t<Btype> B_mat;
    mat_type C_mat;
    A_mat.thread_elements() = A;
    B_mat.thread_elements() = B;
    C_mat.thread_elements() = C;
    mat_type D_mat;
    mma(D_mat, A_mat, B_mat, C_mat);
    D = D_mat.thread_elements();
  }

  template <typename Atype, typename Btype>
  METAL_FUNC static constexpr void mma(thread mat_type& D, thread dtype_mat_t<Atype>& A,
                                       thread dtype_mat_t<Btype>& B, thread mat_type& C) {
    simdgroup_multiply_accumulate(D, A, B, C);
  }

  // Combines the elements of the lane's row, and what reduced_vals has for it.
  template <typename Op>
  METAL_FUNC static constexpr void row_reduce(const thread frag_type& inp_vals,
                                              thread T* reduced_vals) {
    T all = Op::apply(inp_vals.x, inp_vals.y);
    all = Op::apply(all, simd_shuffle_xor(all, ushort(1)));
    all = Op::apply(all, simd_shuffle_xor(all, ushort(8)));
    reduced_vals[0] = Op::apply(reduced_vals[0], all);
  }

  // Combines each element with the value of its row.
  template <typename Op>
  METAL_FUNC static constexpr void row_bin_op(thread frag_type& inp_vals, thread T* row_vals) {
    STEEL_PRAGMA_UNROLL
    for (short j = 0; j < kElemCols; j++) inp_vals[j] = Op::apply(inp_vals[j], row_vals[0]);
  }
};

// ---- tiles ----

// In memory, the fragments of a tile are w_x fragments apart in a column and w_y in a row, as those
// in between belong to other SIMD-groups.
template <typename T, int kTileRows_, int kTileCols_, class MMAFrag_ = BaseMMAFrag<T, 8, 8>>
struct MMATile {
  using MMAFrag_t = MMAFrag_;
  using elem_type = T;
  STEEL_CONST int kFragRows = MMAFrag_t::kFragRows;
  STEEL_CONST int kFragCols = MMAFrag_t::kFragCols;
  STEEL_CONST int kElemsPerFrag = MMAFrag_t::kElemsPerFrag;

  STEEL_CONST int kTileRows = kTileRows_;
  STEEL_CONST int kTileCols = kTileCols_;

  STEEL_CONST int kRows = kTileRows * kFragRows;
  STEEL_CONST int kCols = kTileCols * kFragCols;

  STEEL_CONST int kNumFrags = kTileRows * kTileCols;
  STEEL_CONST int kElemsPerTile = kNumFrags * kElemsPerFrag;

  // Rows and columns of which a lane has elements.
  STEEL_CONST int kFragThrRows = MMAFrag_t::kElemRows;
  STEEL_CONST int kFragThrCols = MMAFrag_t::kElemCols;
  STEEL_CONST int kRowsPerThread = kTileRows * kFragThrRows;
  STEEL_CONST int kColsPerThread = kTileCols * kFragThrCols;

  typedef typename MMAFrag_t::mat_type mat_type;
  typedef typename MMAFrag_t::frag_type frag_type;

  frag_type val_frags[kNumFrags] = {frag_type(0)};

  METAL_FUNC MMATile() thread {}

  METAL_FUNC constexpr void clear() {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kNumFrags; ++i) val_frags[i] = frag_type(0);
  }

  METAL_FUNC constexpr thread frag_type& frag_at(const short i, const short j) {
    return val_frags[i * kTileCols + j];
  }
  METAL_FUNC constexpr const thread frag_type& frag_at(const short i, const short j) const {
    return val_frags[i * kTileCols + j];
  }

  METAL_FUNC mat_type mat_at(const short i, const short j) {
    mat_type mat;
    mat.thread_elements() = frag_at(i, j);
    return mat;
  }

  // The lane's elements, fragment by fragment.
  METAL_FUNC thread elem_type* elems() { return reinterpret_cast<thread elem_type*>(val_frags); }
  METAL_FUNC const thread elem_type* elems() const {
    return reinterpret_cast<const thread elem_type*>(val_frags);
  }

  // vals has a value for each of the lane's rows.
  template <typename Op>
  METAL_FUNC void row_reduce(thread T vals[kRowsPerThread]) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::template row_reduce<Op>(frag_at(i, j), &vals[i * kFragThrRows]);
    }
  }
  template <typename Op>
  METAL_FUNC void row_bin_op(thread T vals[kRowsPerThread]) {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::template row_bin_op<Op>(frag_at(i, j), &vals[i * kFragThrRows]);
    }
  }

  // Threadgroup memory, where steps are constants.
  template <typename U, int w_x, int w_y, int str_x, int str_y>
  METAL_FUNC void load(const threadgroup U* src) {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::load(frag_at(i, j),
                        &src[i * kFragRows * w_x * str_x + j * kFragCols * w_y * str_y],
                        Int<str_x>{}, Int<str_y>{});
    }
  }
  template <typename U, int w_x, int w_y, int str_x, int str_y>
  METAL_FUNC void store(threadgroup U* dst) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::store(frag_at(i, j),
                         &dst[i * kFragRows * w_x * str_x + j * kFragCols * w_y * str_y],
                         Int<str_x>{}, Int<str_y>{});
    }
  }

  // Device memory, with ld elements between rows.
  template <typename U, int w_x, int w_y>
  METAL_FUNC void load(const device U* src, const int ld) {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::load(frag_at(i, j), &src[i * kFragRows * w_x * ld + j * kFragCols * w_y], ld,
                        Int<1>{});
    }
  }
  template <typename U, int w_x, int w_y>
  METAL_FUNC void store(device U* dst, const int ld) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::store(frag_at(i, j), &dst[i * kFragRows * w_x * ld + j * kFragCols * w_y], ld,
                         Int<1>{});
    }
  }

  // Only elements before the given column (x) and row (y), counted from the lane's own, exist.
  template <typename U, int w_x, int w_y>
  METAL_FUNC void load_safe(const device U* src, const int ld, const short2 src_tile_dims) {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::load_safe(frag_at(i, j), src, ld, Int<1>{}, src_tile_dims.y, src_tile_dims.x,
                             i * kFragRows * w_x, j * kFragCols * w_y);
    }
  }
  template <typename U, int w_x, int w_y>
  METAL_FUNC void store_safe(device U* dst, const int ld, const short2 dst_tile_dims) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::store_safe(frag_at(i, j), dst, ld, Int<1>{}, dst_tile_dims.y, dst_tile_dims.x,
                              i * kFragRows * w_x, j * kFragCols * w_y);
    }
  }
  template <typename U, int w_x, int w_y>
  METAL_FUNC void store_slice(device U* dst, const int ld, const short2 start,
                              const short2 stop) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < kTileRows; ++i) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < kTileCols; ++j)
        MMAFrag_t::store_slice(frag_at(i, j), dst, ld, Int<1>{}, start.y, stop.y, start.x, stop.x,
                               i * kFragRows * w_x, j * kFragCols * w_y);
    }
  }
};

// D = A B + C
template <typename Dtype, typename Atype, typename Btype, typename Ctype, int M, int N, int K,
          class MMAFragD, class MMAFragA, class MMAFragB, class MMAFragC>
METAL_FUNC void tile_matmad(thread MMATile<Dtype, M, N, MMAFragD>& D,
                            thread MMATile<Atype, M, K, MMAFragA>& A,
                            thread MMATile<Btype, K, N, MMAFragB>& B,
                            thread MMATile<Ctype, M, N, MMAFragC>& C) {
  STEEL_PRAGMA_UNROLL
  for (short m = 0; m < M; ++m) {
    STEEL_PRAGMA_UNROLL
    for (short n = 0; n < N; ++n) {
      MMAFragD::mma(D.frag_at(m, n), A.frag_at(m, 0), B.frag_at(0, n), C.frag_at(m, n));
      STEEL_PRAGMA_UNROLL
      for (short k = 1; k < K; ++k)
        MMAFragD::mma(D.frag_at(m, n), A.frag_at(m, k), B.frag_at(k, n), D.frag_at(m, n));
    }
  }
}

// ---- blocks ----

// WM x WN SIMD-groups multiply tiles in threadgroup memory: A of BM x BK elements, or BK x BM if it
// is transposed, and B of BK x BN or BN x BK. Results are pointers to the block's first element.
template <typename T, typename U, int BM, int BN, int BK, int WM, int WN, bool transpose_a,
          bool transpose_b, short lda_tgp, short ldb_tgp, typename AccumType = float,
          typename Epilogue = TransformNone<U, AccumType>>
struct BlockMMA {
  STEEL_CONST short kFragSize = 8;
  using MMAFrag_acc_t = BaseMMAFrag<AccumType, kFragSize, kFragSize>;

  // The distance between a SIMD-group's fragments, and how many it has.
  STEEL_CONST short TM_stride = kFragSize * WM;
  STEEL_CONST short TN_stride = kFragSize * WN;
  STEEL_CONST short TM = BM / TM_stride;
  STEEL_CONST short TN = BN / TN_stride;

  STEEL_CONST short A_str_m = transpose_a ? 1 : lda_tgp;
  STEEL_CONST short A_str_k = transpose_a ? lda_tgp : 1;
  STEEL_CONST short B_str_k = transpose_b ? 1 : ldb_tgp;
  STEEL_CONST short B_str_n = transpose_b ? ldb_tgp : 1;

  STEEL_CONST short tile_stride_a = kFragSize * A_str_k;
  STEEL_CONST short tile_stride_b = kFragSize * B_str_k;

  MMATile<AccumType, TM, 1, MMAFrag_acc_t> Atile;
  MMATile<AccumType, 1, TN, MMAFrag_acc_t> Btile;
  MMATile<AccumType, TM, TN, MMAFrag_acc_t> Ctile;

  // The row and column of the lane's first element in the block.
  short sm;
  short sn;

  short As_offset;
  short Bs_offset;

  METAL_FUNC BlockMMA(ushort simd_group_id [[simdgroup_index_in_threadgroup]],
                      ushort simd_lane_id [[thread_index_in_simdgroup]]) {
    const short top = kFragSize * (simd_group_id / WN), left = kFragSize * (simd_group_id % WN);
    const short2 in = MMAFrag_acc_t::get_coord(simd_lane_id);
    As_offset = (top + in.y) * A_str_m + in.x * A_str_k;
    Bs_offset = in.y * B_str_k + (left + in.x) * B_str_n;
    sm = top + in.y;
    sn = left + in.x;
  }

  // Adds the product of two tiles to the results.
  METAL_FUNC void mma(const threadgroup T* As, const threadgroup T* Bs) {
    As += As_offset;
    Bs += Bs_offset;
    STEEL_PRAGMA_UNROLL
    for (short k = 0; k < BK; k += kFragSize) {
      Atile.template load<T, WM, 1, A_str_m, A_str_k>(As);
      Btile.template load<T, 1, WN, B_str_k, B_str_n>(Bs);
      tile_matmad(Ctile, Atile, Btile, Ctile);
      As += tile_stride_a;
      Bs += tile_stride_b;
    }
  }

  METAL_FUNC void store_result(device U* D, const int ldd) {
    apply_to_all([](AccumType x) { return Epilogue::apply(x); });
    Ctile.template store<U, WM, WN>(own(D, ldd), ldd);
  }
  METAL_FUNC void store_result_slice(device U* D, const int ldd, short2 start, short2 stop) {
    apply_to_all([](AccumType x) { return Epilogue::apply(x); });
    const short2 first(sn, sm);
    Ctile.template store_slice<U, WM, WN>(own(D, ldd), ldd, start - first, stop - first);
  }
  // Only dst_tile_dims (x: columns, y: rows) of the block are inside of the matrix.
  METAL_FUNC void store_result_safe(device U* D, const int ldd, short2 dst_tile_dims) {
    apply_to_all([](AccumType x) { return Epilogue::apply(x); });
    Ctile.template store_safe<U, WM, WN>(own(D, ldd), ldd, dst_tile_dims - short2(sn, sm));
  }

  template <typename UnaryEpilogue>
  METAL_FUNC void apply_epilogue(thread const UnaryEpilogue& epilogue_op) {
    apply_to_all([&](AccumType x) { return epilogue_op.apply(x); });
  }

  // Elements of C are ldc apart in a column and fdc in a row: either may be 0, as for a vector
  // that is added to each row.
  template <typename BinaryEpilogue>
  METAL_FUNC void apply_epilogue(const device U* C, const int ldc, const int fdc,
                                 thread const BinaryEpilogue& epilogue_op) {
    apply_with(C, ldc, fdc, short2(BN, BM), epilogue_op);
  }
  template <typename BinaryEpilogue>
  METAL_FUNC void apply_epilogue_safe(const device U* C, const int ldc, const int fdc,
                                      short2 dst_tile_dims,
                                      thread const BinaryEpilogue& epilogue_op) {
    apply_with(C, ldc, fdc, dst_tile_dims, epilogue_op);
  }

  METAL_FUNC void store_result(device U* D, const int ldd, const device U* C, const int ldc,
                               const int fdc, thread const Epilogue& epilogue_op) const {
    store_with(D, ldd, C, ldc, fdc, short2(BN, BM), epilogue_op);
  }
  METAL_FUNC void store_result_safe(device U* D, const int ldd, const device U* C, const int ldc,
                                    const int fdc, short2 dst_tile_dims,
                                    thread const Epilogue& epilogue_op) const {
    store_with(D, ldd, C, ldc, fdc, dst_tile_dims, epilogue_op);
  }

 private:
  template <typename P>
  METAL_FUNC device P* own(device P* matrix, const int ld) const {
    return matrix + size_t(sm) * ld + sn;
  }

  template <typename F>
  METAL_FUNC void apply_to_all(F f) {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < decltype(Ctile)::kElemsPerTile; i++)
      Ctile.elems()[i] = static_cast<AccumType>(f(Ctile.elems()[i]));
  }

  // Calls f with the row and column in the block, and the number of the element in a fragment, for
  // what the lane has of the part that is `dims` large.
  template <typename F>
  METAL_FUNC void for_elements(short2 dims, F f) const {
    STEEL_PRAGMA_UNROLL
    for (short i = 0; i < TM; i++) {
      STEEL_PRAGMA_UNROLL
      for (short j = 0; j < TN; j++) {
        STEEL_PRAGMA_UNROLL
        for (short k = 0; k < 2; k++) {
          const short row = sm + i * TM_stride, column = sn + j * TN_stride + k;
          if (row < dims.y && column < dims.x) f(row, column, (i * TN + j) * 2 + k);
        }
      }
    }
  }

  template <typename BinaryEpilogue>
  METAL_FUNC void apply_with(const device U* C, const int ldc, const int fdc, short2 dims,
                             thread const BinaryEpilogue& op) {
    thread AccumType* sums = Ctile.elems();
    for_elements(dims, [&](short row, short column, short i) {
      sums[i] = op.apply(sums[i], C[row * ldc + column * fdc]);
    });
  }

  METAL_FUNC void store_with(device U* D, const int ldd, const device U* C, const int ldc,
                             const int fdc, short2 dims, thread const Epilogue& op) const {
    const thread AccumType* sums = Ctile.elems();
    for_elements(dims, [&](short row, short column, short i) {
      D[row * ldd + column] = op.apply(sums[i], C[row * ldc + column * fdc]);
    });
  }
};

}  // namespace steel
}  // namespace mlx
