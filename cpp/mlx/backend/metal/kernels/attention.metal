// Scaled dot-product attention without the matrix of scores in memory.
//
// A SIMD-group has the sums of its queries in registers. For one block of keys after the other, it
// computes the scores, and scales the sums when a larger score appears (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018; Dao, "FlashAttention-2", 2023).
#include <metal_simdgroup_matrix>

#include "mlx/backend/metal/kernels/attention_params.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

// Elements of a row in threadgroup memory; rows begin in different banks.
constexpr constant int kPadding = 8;
constexpr constant int kVector = 8;  // elements that a thread copies at a time

// Rows of keys or values on their way to threadgroup memory.
template <int D>
struct Rows {
  using Tiles = AttentionTiles<D>;
  enum {
    kBlockKeys = Tiles::kBlockKeys,
    kInRow = D / kVector,
    kAtOnce = Tiles::kThreads / kInRow,
    kEach = kBlockKeys / kAtOnce
  };

  // Rows from `end` on are zeros.
  METAL_FUNC void load(const device uint4* from, uint step, uint first, uint end, uint item) {
    uint row = first + item / kInRow;
    uint place = row * step + item % kInRow;
    if (first + kBlockKeys <= end) {
      for (uint i = 0; i < kEach; ++i) vectors[i] = from[place + i * kAtOnce * step];
    } else {
      for (uint i = 0; i < kEach; ++i)
        vectors[i] = row + i * kAtOnce < end ? from[place + i * kAtOnce * step] : uint4(0);
    }
  }

  METAL_FUNC void store(threadgroup uint4* to, uint item) const {
    uint row = item / kInRow;
    for (int i = 0; i < kEach; ++i, row += kAtOnce)
      to[row * ((D + kPadding) / kVector) + item % kInRow] = vectors[i];
  }

  uint4 vectors[kEach];
};

// The largest number, or the sum, of a row of matrices: four threads have its elements.
METAL_FUNC float max_of_row(float x) {
  x = max(x, simd_shuffle_xor(x, 1));
  return max(x, simd_shuffle_xor(x, 8));
}
METAL_FUNC float sum_of_row(float x) {
  x += simd_shuffle_xor(x, 1);
  return x + simd_shuffle_xor(x, 8);
}

template <typename T, int D, bool causal>
[[kernel, max_total_threads_per_threadgroup(AttentionTiles<D>::kThreads)]] void attention(
    const device uint4* q [[buffer(0)]], const device uint4* k [[buffer(1)]],
    const device uint4* v [[buffer(2)]], device T* out [[buffer(3)]],
    constant const AttentionParams& p [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using Tiles = AttentionTiles<D>;
  constexpr int kGroupQueries = Tiles::kGroupQueries, kBlockQueries = Tiles::kBlockQueries;
  constexpr int kBlockKeys = Tiles::kBlockKeys;
  constexpr int row_tiles = kGroupQueries / 8, key_tiles = kBlockKeys / 8, tiles = D / 8;
  constexpr int step = D + kPadding;
  threadgroup T tile[kBlockKeys * step];
  auto vectors = reinterpret_cast<threadgroup uint4*>(tile);
  q += group.z * p.q_steps[0] + group.y * p.q_steps[1];
  k += group.z * p.k_steps[0] + group.y / p.sharing * p.k_steps[1];
  v += group.z * p.v_steps[0] + group.y / p.sharing * p.v_steps[1];
  // With causal attention, the last queries have most to do: they come first.
  uint last_block = (p.queries - 1) / kBlockQueries;
  uint first_query = (causal ? last_block - group.x : group.x) * kBlockQueries;

  // What the thread copies. The lanes of an NVIDIA GPU run the threads in the order of the elements
  // of its matrices (cuda/lane_order.h): in this order, neighbouring lanes copy neighbours, and eight
  // lanes write to different banks.
  uint item = (thread_index & ~14u) | (thread_index & 6) << 1 | (thread_index & 8) >> 2;

  // The queries of the SIMD-group.
  Rows<D> rows;
  simdgroup_matrix<T, 8, 8> queries[row_tiles][tiles];
  for (uint part = 0; part < kBlockQueries; part += kBlockKeys) {
    rows.load(q, p.q_step, first_query + part, p.queries, item);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    rows.store(vectors, item);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint row = simdgroup * kGroupQueries - part;
    if (row < kBlockKeys) {
      for (int i = 0; i < row_tiles; ++i)
        for (int d = 0; d < tiles; ++d)
          simdgroup_load(queries[i][d], tile + (row + i * 8) * step + d * 8, step);
    }
  }

  simdgroup_float8x8 sums[row_tiles][tiles];
  float largest[row_tiles], total[row_tiles];
  for (int i = 0; i < row_tiles; ++i) {
    largest[i] = -INFINITY;
    total[i] = 0;
    for (int d = 0; d < tiles; ++d) sums[i][d] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  // The thread's row and columns in a matrix.
  uint quad = lane / 4;
  uint in_row = (quad & 4) + lane / 2 % 4, in_column = (quad & 2) * 2 + lane % 2 * 2;
  uint query = first_query + simdgroup * kGroupQueries + in_row;
  uint ahead = p.keys - p.queries;  // keys before the first query's own, if causal
  uint end = causal ? min(p.keys, first_query + kBlockQueries + ahead) : p.keys;

  rows.load(k, p.k_step, 0, p.keys, item);
  for (uint first = 0; first < end; first += kBlockKeys) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    rows.store(vectors, item);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    rows.load(v, p.v_step, first, p.keys, item);

    simdgroup_float8x8 scores[row_tiles][key_tiles];
    for (int i = 0; i < row_tiles; ++i)
      for (int j = 0; j < key_tiles; ++j)
        scores[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (int d = 0; d < tiles; ++d) {
      simdgroup_matrix<T, 8, 8> keys[key_tiles];
      for (int j = 0; j < key_tiles; ++j)
        simdgroup_load(keys[j], tile + j * 8 * step + d * 8, step, ulong2(0, 0), true);
      for (int i = 0; i < row_tiles; ++i)
        for (int j = 0; j < key_tiles; ++j)
          simdgroup_multiply_accumulate(scores[i][j], queries[i][d], keys[j], scores[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    rows.store(vectors, item);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (first + kBlockKeys < end) rows.load(k, p.k_step, first + kBlockKeys, p.keys, item);

    bool at_edge = first + kBlockKeys > (causal ? first_query + ahead + 1 : p.keys);
    simdgroup_matrix<T, 8, 8> weights[row_tiles][key_tiles];
    for (int i = 0; i < row_tiles; ++i) {
      if (at_edge) {
        uint last = causal ? min(query + i * 8 + ahead + 1, p.keys) : p.keys;
        for (int j = 0; j < key_tiles; ++j) {
          thread float2& pair = scores[i][j].thread_elements();
          uint key = first + j * 8 + in_column;
          if (key >= last) pair.x = -INFINITY;
          if (key + 1 >= last) pair.y = -INFINITY;
        }
      }
      float most = largest[i];
      for (int j = 0; j < key_tiles; ++j) {
        float2 pair = scores[i][j].thread_elements();
        most = max(most, max(pair.x, pair.y));
      }
      most = max_of_row(most);
      float scaled = most == -INFINITY ? 0.0f : most * p.scale;
      float factor = fast::exp2(largest[i] * p.scale - scaled);
      largest[i] = most;
      float sum = 0;
      for (int j = 0; j < key_tiles; ++j) {
        float2 pair = scores[i][j].thread_elements();
        pair.x = fast::exp2(fma(pair.x, p.scale, -scaled));
        pair.y = fast::exp2(fma(pair.y, p.scale, -scaled));
        sum += pair.x + pair.y;
        weights[i][j].thread_elements() = vec<T, 2>(pair);
      }
      total[i] = total[i] * factor + sum;
      for (int d = 0; d < tiles; ++d) sums[i][d].thread_elements() *= factor;
    }
    for (int j = 0; j < key_tiles; ++j) {
      simdgroup_matrix<T, 8, 8> values[tiles];
      for (int d = 0; d < tiles; ++d) simdgroup_load(values[d], tile + j * 8 * step + d * 8, step);
      for (int i = 0; i < row_tiles; ++i)
        for (int d = 0; d < tiles; ++d)
          simdgroup_multiply_accumulate(sums[i][d], weights[i][j], values[d], sums[i][d]);
    }
  }

  out += ((int64_t(group.z) * p.heads + group.y) * p.queries + query) * D + in_column;
  for (int i = 0; i < row_tiles; ++i) {
    float factor = 1 / sum_of_row(total[i]);
    if (query + i * 8 < p.queries) {
      for (int d = 0; d < tiles; ++d) {
        auto pair = vec<T, 2>(sums[i][d].thread_elements() * factor);
        *reinterpret_cast<device vec<T, 2>*>(out + i * 8 * D + d * 8) = pair;
      }
    }
  }
}

#define ATTENTION(name, T, D)                                  \
  MLX_KERNEL("Attention_" #name "_" #D, attention<T, D, false>) \
  MLX_KERNEL("CausalAttention_" #name "_" #D, attention<T, D, true>)
ATTENTION(float16, half, 64)
ATTENTION(float16, half, 128)
ATTENTION(bfloat16, bfloat, 64)
ATTENTION(bfloat16, bfloat, 128)
