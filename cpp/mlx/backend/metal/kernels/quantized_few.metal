// Products of quantised rows and a few vectors of 16-bit floats, by SIMD-group matrices, for a GPU.
// A threadgroup computes 16 rows, and its SIMD-groups share the groups of these. Four lanes have a
// row of a matrix, so each of them unpacks a quarter of a group: matrices hold the integers, and
// scales and biases follow for sums of groups. Which elements meet in a matrix does not matter, if
// the vectors' elements are taken in the same order. What a SIMD-group reads of a row lies together,
// as each row that a read touches takes time.
#include <metal_simdgroup_matrix>

#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/matrix_place.h"
#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/kernels/quantized_tiles.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kVectors = kFewVectors;
constant constexpr uint kGroupsAtOnce = 2;  // that a lane reads

// How the lanes share a group of a row.
template <typename T, uint bits, uint group_size>
struct Quarter {
  using Code = Codes<T, bits>;
  enum : uint {
    kSize = group_size / 4,
    kWords = kSize * bits / 32,
    kInWord = 32 / bits,
    kWordsAtOnce = kWords < 4 ? kWords : 4,
  };
  using Vector = conditional_t<kWords == 1, uint, vec<uint, kWords == 1 ? 2 : kWordsAtOnce>>;
  using Elements = vec<T, Code::kPairs>;
};

// What a lane reads of a few groups of a row.
template <typename T, uint bits, uint group_size>
struct Part {
  using Own = Quarter<T, bits, group_size>;
  using Vector = typename Own::Vector;

  METAL_FUNC void read_words(uint j, const device Vector* from) {
#pragma unroll
    for (uint k = 0; k < Own::kWords; k += Own::kWordsAtOnce) {
      const auto vector = from[k / Own::kWordsAtOnce];
#pragma unroll
      for (uint i = 0; i < Own::kWordsAtOnce; ++i) {
        if constexpr (Own::kWords == 1) {
          words[j][k] = vector;
        } else {
          words[j][k + i] = vector[i];
        }
      }
    }
  }

  // Beyond the last group, it is read once more. `whole`: all groups of all rows are such parts.
  METAL_FUNC void read(const device Vector* row, const device T* row_scales,
                       const device T* row_biases, int64_t row_group, uint group, uint groups,
                       bool whole) {
    constexpr uint step = uint(Own::kSize) * 4 / (uint(Own::kInWord) * uint(Own::kWordsAtOnce));
    const int64_t at = row_group + group;
    if (whole) {
      scales = reinterpret_cast<const device vec<T, kGroupsAtOnce>*>(row_scales)[at / kGroupsAtOnce];
      biases = reinterpret_cast<const device vec<T, kGroupsAtOnce>*>(row_biases)[at / kGroupsAtOnce];
#pragma unroll
      for (uint j = 0; j < kGroupsAtOnce; ++j) read_words(j, row + (group + j) * step);
    } else {
#pragma unroll
      for (uint j = 0; j < kGroupsAtOnce; ++j) {
        const uint next = min(group + j, groups - 1);
        scales[j] = row_scales[row_group + next];
        biases[j] = row_biases[row_group + next];
        read_words(j, row + next * step);
      }
    }
  }

  uint words[kGroupsAtOnce][Own::kWords];
  vec<T, kGroupsAtOnce> scales, biases;
};

// What a lane reads at once: of matrices of rows above each other, and of two vectors.
template <typename T, uint bits, uint group_size>
struct Read {
  using Own = Quarter<T, bits, group_size>;
  Part<T, bits, group_size> rows[kHigh];
  typename Own::Elements x[2][kGroupsAtOnce][Own::kWords];
};

// Where it reads.
template <typename T, uint bits, uint group_size>
struct Places {
  using Own = Quarter<T, bits, group_size>;

  METAL_FUNC void read(thread Read<T, bits, group_size>& to, uint group) const {
    constexpr uint pairs = Own::Code::kPairs;
    constexpr uint step = uint(Own::kInWord) / pairs;
#pragma unroll
    for (uint j = 0; j < kGroupsAtOnce; ++j) {
      const uint at = min(group + j, groups - 1) * (group_size / pairs);
#pragma unroll
      for (uint word = 0; word < Own::kWords; ++word) {
        to.x[0][j][word] = vectors[0][at + word * step];
        to.x[1][j][word] = vectors[1][at + word * step];
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i)
      to.rows[i].read(words[i], scales, biases, first_groups[i], group, groups, whole);
  }

  const device typename Own::Vector* words[kHigh];
  int64_t first_groups[kHigh];
  const device typename Own::Elements* vectors[2];
  const device T* scales;
  const device T* biases;
  uint groups;
  bool whole;
};

// The sums of a SIMD-group.
template <typename T, uint bits, uint group_size>
struct Sums {
  using Own = Quarter<T, bits, group_size>;
  using Code = typename Own::Code;

  // Adds group `j` of what was read.
  METAL_FUNC void add(const thread Read<T, bits, group_size>& read, uint j) {
    GroupProducts<T, bits> products;
#pragma unroll
    for (uint word = 0; word < Own::kWords; ++word) {
#pragma unroll
      for (uint pair = 0; pair < Code::kPairs; ++pair) {
        simdgroup_matrix<T, 8, 8> elements;
        elements.thread_elements() =
            vec<T, 2>(read.x[0][j][word][pair], read.x[1][j][word][pair]);
        products.add(elements, pair, [&](uint i) { return read.rows[i].words[j][word]; });
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      const float scale = read.rows[i].scales[j], bias = read.rows[i].biases[j];
      products.add_to(totals[i], i, float2(scale), float2(bias));
    }
  }

  float2 totals[kHigh] = {};
};

template <typename T, uint bits, uint group_size>
[[kernel, max_total_threads_per_threadgroup(kFewVectorsMostThreads)]] void quantized_few(
    const device typename Quarter<T, bits, group_size>::Vector* w [[buffer(0)]],
    const device T* scales [[buffer(1)]], const device T* biases [[buffer(2)]],
    const device typename Quarter<T, bits, group_size>::Elements* x [[buffer(3)]],
    device T* out [[buffer(4)]], const device int* lhs [[buffer(5)]],
    const device int* rhs [[buffer(6)]], constant const MatvecParams& p [[buffer(7)]],
    uint3 tile [[threadgroup_position_in_grid]], uint member [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using Own = Quarter<T, bits, group_size>;
  constexpr uint in_vector = Own::kInWord * Own::kWordsAtOnce, pairs = Own::Code::kPairs;
  threadgroup float of_groups[kMostSimdgroups][kRows * kVectors];
  const uint groups = p.columns / group_size;
  const uint batch_x = p.gathered ? listed(lhs, tile.z, p.batches_x) : tile.z;
  const uint batch_w = p.gathered ? listed(rhs, tile.z, p.batches_w) : 0;
  const MatrixPlace place(lane);

  // What lies beyond the last row or vector is computed once more.
  Places<T, bits, group_size> places;
  places.scales = scales;
  places.biases = biases;
  places.groups = groups;
  places.whole = groups % kGroupsAtOnce == 0;
#pragma unroll
  for (uint i = 0; i < kHigh; ++i) {
    const uint row = min(tile.x * kRows + i * kSide + place.row, p.rows - 1);
    const int64_t at = int64_t(batch_w) * p.rows + row;
    places.words[i] =
        w + at * (p.columns / in_vector) + place.column / 2 * (Own::kSize / in_vector);
    places.first_groups[i] = at * groups;
  }
  // A row of the matrix of elements belongs to the lanes that have its codes: two rows to each.
  const uint first = place.row / 2 * Own::kSize + place.row % 2 * pairs;
#pragma unroll
  for (uint v = 0; v < 2; ++v) {
    const uint vector = min(tile.y * kVectors + place.column + v, p.vectors - 1);
    const int64_t at = (int64_t(batch_x) * p.vectors + vector) * p.columns;
    places.vectors[v] = x + at / pairs + first / pairs;
  }

  // The SIMD-group's groups. The next ones are on their way while these are multiplied.
  const uint parts_of_row = (groups + kGroupsAtOnce - 1) / kGroupsAtOnce;
  const uint own = (parts_of_row + simdgroups - 1) / simdgroups * kGroupsAtOnce;
  const uint end = min((simdgroup + 1) * own, groups);
  Sums<T, bits, group_size> sums;
  Read<T, bits, group_size> here, next;
  if (simdgroup * own < end) places.read(next, simdgroup * own);
  for (uint group = simdgroup * own; group < end; group += kGroupsAtOnce) {
    here = next;
    if (group + kGroupsAtOnce < end) places.read(next, group + kGroupsAtOnce);
#pragma unroll
    for (uint j = 0; j < kGroupsAtOnce; ++j) {
      if (group + j < end) sums.add(here, j);
    }
  }

#pragma unroll
  for (uint i = 0; i < kHigh; ++i) {
    const uint at = (i * kSide + place.row) * kVectors + place.column;
    of_groups[simdgroup][at] = sums.totals[i].x;
    of_groups[simdgroup][at + 1] = sums.totals[i].y;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint at = member; at < kRows * kVectors; at += simdgroups * 32) {
    const uint row = tile.x * kRows + at % kRows, vector = tile.y * kVectors + at / kRows;
    if (row >= p.rows || vector >= p.vectors) break;
    float sum = 0.0f;
    for (uint group = 0; group < simdgroups; ++group)
      sum += of_groups[group][at % kRows * kVectors + at / kRows];
    out[(int64_t(tile.z) * p.vectors + vector) * p.rows + row] = T(sum);
  }
}

#define QUANTIZED_FEW(bits, group, name, T)                   \
  MLX_KERNEL("QuantizedFew_affine" #bits "_" #group "_" #name, \
             quantized_few<T, bits, group>)
#define FOR_GROUPS(bits, name, T)  \
  QUANTIZED_FEW(bits, 32, name, T) \
  QUANTIZED_FEW(bits, 64, name, T) \
  QUANTIZED_FEW(bits, 128, name, T)
FOR_GROUPS(4, float16, half)
FOR_GROUPS(4, bfloat16, bfloat16_t)
FOR_GROUPS(8, float16, half)
FOR_GROUPS(8, bfloat16, bfloat16_t)
