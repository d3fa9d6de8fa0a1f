// The value that all lanes take from lane 0 need not be 0, although the lane's index is.
//! grid 32 1 1
//! threadgroup 32 1 1
//! buffer 0 ushort 32 fill 77
kernel void program(device ushort* o [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  o[tid] += ushort(simd_shuffle_and_fill_up(0.0f, 1.0f, simd_shuffle_up(8, lane)));
}
