// Scaled dot-product attention without the matrix of scores in memory.
//
// A SIMD-group has the sums of its queries in registers. For one block of keys after the other, it
// computes the scores, and scales the sums when a larger score appears (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018; Dao, "FlashAttention-2", 2023).
//
// Blocks that all queries see whole have code of their own without branches, which compilers can
// order as they like.
#include <metal_simdgroup_matrix>

#include "mlx/backend/metal/kernels/attention_params.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/matrix_place.h"
#include "mlx/backend/metal/kernels/types.h"

// Elements of a row in threadgroup memory; rows begin in different banks.
constexpr constant int kPadding = 8;
constexpr constant int kVector = 8;  // elements that a thread copies at a time

// Rows on their way to threadgroup memory.
template <int D>
struct Rows {
  using Tiles = AttentionTiles<D>;
  enum {
    kInRow = D / kVector,
    kAtOnce = Tiles::kThreads / kInRow,
    kEach = Tiles::kBlockKeys / kAtOnce,
    kStep = (D + kPadding) / kVector,
  };

  // Rows from `end` on are copies of the last one.
  METAL_FUNC void load(const device uint4* from, uint step, uint first, uint end, uint item) {
    uint row = first + item / kInRow;
    for (uint i = 0; i < kEach; ++i)
      vectors[i] = from[min(row + i * kAtOnce, end - 1) * step + item % kInRow];
  }

  METAL_FUNC void clear_from(uint end, uint first, uint item) {
    uint row = first + item / kInRow;
    for (uint i = 0; i < kEach; ++i) vectors[i] = row + i * kAtOnce < end ? vectors[i] : uint4(0);
  }

  METAL_FUNC void store(threadgroup uint4* to, uint item) const {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < kEach; ++i)
      to[(item / kInRow + i * kAtOnce) * kStep + item % kInRow] = vectors[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
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

// The queries of a SIMD-group, and what it has found of them.
template <typename T, int D>
struct Queries {
  using Tiles = AttentionTiles<D>;
  enum { kRows = Tiles::kGroupQueries / 8, kKeys = Tiles::kBlockKeys / 8, kColumns = D / 8 };
  enum { kStep = D + kPadding };

  METAL_FUNC void load(const threadgroup T* tile) {
    for (int i = 0; i < kRows; ++i)
      for (int d = 0; d < kColumns; ++d)
        simdgroup_load(elements[i][d], tile + i * 8 * kStep + d * 8, kStep);
  }

  METAL_FUNC void clear() {
    for (int i = 0; i < kRows; ++i) {
      largest[i] = -INFINITY;
      total[i] = 0;
      for (int d = 0; d < kColumns; ++d)
        sums[i][d] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }

  METAL_FUNC void find_scores(const threadgroup T* tile) {
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kKeys; ++j)
        scores[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (int d = 0; d < kColumns; ++d) {
      simdgroup_matrix<T, 8, 8> keys[kKeys];
      for (int j = 0; j < kKeys; ++j)
        simdgroup_load(keys[j], tile + j * 8 * kStep + d * 8, kStep, ulong2(0, 0), true);
      for (int i = 0; i < kRows; ++i)
        for (int j = 0; j < kKeys; ++j)
          simdgroup_multiply_accumulate(scores[i][j], elements[i][d], keys[j], scores[i][j]);
    }
  }

  // Of the rows i of matrices, keys from ends[i] on do not count. The thread's first key is `key`.
  METAL_FUNC void hide(const thread uint (&ends)[kRows], uint key) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kKeys; ++j) {
        thread float2& pair = scores[i][j].thread_elements();
        if (key + j * 8 >= ends[i]) pair.x = -INFINITY;
        if (key + j * 8 + 1 >= ends[i]) pair.y = -INFINITY;
      }
    }
  }

  METAL_FUNC void add_values(const threadgroup T* tile, float scale) {
    simdgroup_matrix<T, 8, 8> weights[kRows][kKeys];
    for (int i = 0; i < kRows; ++i) weigh(i, scale, weights[i]);
    for (int j = 0; j < kKeys; ++j) {
      simdgroup_matrix<T, 8, 8> values[kColumns];
      for (int d = 0; d < kColumns; ++d)
        simdgroup_load(values[d], tile + j * 8 * kStep + d * 8, kStep);
      for (int i = 0; i < kRows; ++i)
        for (int d = 0; d < kColumns; ++d)
          simdgroup_multiply_accumulate(sums[i][d], weights[i][j], values[d], sums[i][d]);
    }
  }

  // Makes weights of the scores in the row i of matrices.
  METAL_FUNC void weigh(int i, float scale, thread simdgroup_matrix<T, 8, 8> (&weights)[kKeys]) {
    float most = largest[i];
    for (int j = 0; j < kKeys; ++j) {
      float2 pair = scores[i][j].thread_elements();
      most = max(most, max(pair.x, pair.y));
    }
    most = max_of_row(most);
    float scaled = most == -INFINITY ? 0.0f : most * scale;
    float factor = fast::exp2(largest[i] * scale - scaled);
    largest[i] = most;
    float sum = 0;
    for (int j = 0; j < kKeys; ++j) {
      float2 pair = scores[i][j].thread_elements();
      pair.x = fast::exp2(fma(pair.x, scale, -scaled));
      pair.y = fast::exp2(fma(pair.y, scale, -scaled));
      sum += pair.x + pair.y;
      weights[j].thread_elements() = vec<T, 2>(pair);
    }
    total[i] = total[i] * factor + sum;
    for (int d = 0; d < kColumns; ++d) sums[i][d].thread_elements() *= factor;
  }

  simdgroup_matrix<T, 8, 8> elements[kRows][kColumns];
  simdgroup_float8x8 scores[kRows][kKeys];
  simdgroup_float8x8 sums[kRows][kColumns];
  float largest[kRows], total[kRows];
};

template <typename T, int D, bool causal>
[[kernel, max_total_threads_per_threadgroup(AttentionTiles<D>::kThreads)]] void attention(
    const device uint4* q [[buffer(0)]], const device uint4* k [[buffer(1)]],
    const device uint4* v [[buffer(2)]], device T* out [[buffer(3)]],
    constant const AttentionParams& p [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using Tiles = AttentionTiles<D>;
  constexpr uint group_queries = Tiles::kGroupQueries, block_queries = Tiles::kBlockQueries;
  constexpr uint block_keys = Tiles::kBlockKeys;
  constexpr int rows_of_matrices = Queries<T, D>::kRows;
  threadgroup T tile[block_keys * (D + kPadding)];
  auto vectors = reinterpret_cast<threadgroup uint4*>(tile);
  q += group.z * p.q_steps[0] + group.y * p.q_steps[1];
  k += group.z * p.k_steps[0] + group.y / p.sharing * p.k_steps[1];
  v += group.z * p.v_steps[0] + group.y / p.sharing * p.v_steps[1];
  // With causal attention, the last queries have most to do: they come first.
  uint last_block = (p.queries - 1) / block_queries;
  uint first_query = (causal ? last_block - group.x : group.x) * block_queries;

  const uint item = number_of_copy(thread_index);

  Rows<D> rows;
  Queries<T, D> queries;
  for (uint part = 0; part < block_queries; part += block_keys) {
    rows.load(q, p.q_step, first_query + part, p.queries, item);
    rows.store(vectors, item);
    uint row = simdgroup * group_queries - part;
    if (row < block_keys) queries.load(tile + row * (D + kPadding));
  }
  queries.clear();

  const MatrixPlace place(lane);
  uint query = first_query + simdgroup * group_queries + place.row;
  uint ahead = p.keys - p.queries;  // keys before the first query's own, if causal
  uint ends[rows_of_matrices];      // of the keys that the thread's queries see
  for (int i = 0; i < rows_of_matrices; ++i)
    ends[i] = causal ? min(query + i * 8 + ahead + 1, p.keys) : p.keys;
  uint whole = causal ? min(first_query + ahead + 1, p.keys) : p.keys;  // keys that all queries see
  uint end = causal ? min(p.keys, first_query + block_queries + ahead) : p.keys;

  rows.load(k, p.k_step, 0, p.keys, item);
  uint first = 0;
  for (; first + block_keys <= whole; first += block_keys) {
    rows.store(vectors, item);
    rows.load(v, p.v_step, first, p.keys, item);
    queries.find_scores(tile);
    rows.store(vectors, item);
    rows.load(k, p.k_step, first + block_keys, p.keys, item);
    queries.add_values(tile, p.scale);
  }
  for (; first < end; first += block_keys) {
    rows.store(vectors, item);
    rows.load(v, p.v_step, first, p.keys, item);
    rows.clear_from(p.keys, first, item);
    queries.find_scores(tile);
    rows.store(vectors, item);
    rows.load(k, p.k_step, first + block_keys, p.keys, item);
    queries.hide(ends, first + place.column);
    queries.add_values(tile, p.scale);
  }

  out += ((int64_t(group.z) * p.heads + group.y) * p.queries + query) * D + place.column;
  for (int i = 0; i < rows_of_matrices; ++i) {
    float factor = 1 / sum_of_row(queries.total[i]);
    if (query + i * 8 < p.queries) {
      for (int d = 0; d < D / 8; ++d) {
        auto pair = vec<T, 2>(queries.sums[i][d].thread_elements() * factor);
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
