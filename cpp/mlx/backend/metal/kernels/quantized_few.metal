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
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kSide = 8;  // of a matrix
constant constexpr uint kVectors = kFewVectors;
constant constexpr uint kRows = kFewVectorsRows;
constant constexpr uint kHigh = kRows / kSide;  // matrices above each other
constant constexpr uint kMostSimdgroups = kFewVectorsMostThreads / 32;
constant constexpr uint kGroupsAtOnce = 2;  // that a lane reads
constant constexpr uint kStaged = 512;      // elements of a vector

// Codes of `bits` bits as 16-bit floats: the fraction of a power of two holds the bits of a code, so
// `kOffset` is added to it. Pair `i` of the codes in a word are those at i and i + kPairs.
template <typename T, uint bits>
struct Codes;
template <>
struct Codes<half, 4> {
  enum : uint { kPairs = 4, kOffset = 16 };
  static half2 pair(uint word, uint i) {
    const uint moved = i < 2 ? word << (6 - 4 * i) : word >> (4 * i - 6);
    return as_type<half2>((moved & 0x03c003c0) | 0x4c004c00);
  }
};
template <>
struct Codes<bfloat16_t, 4> {
  enum : uint { kPairs = 4, kOffset = 16 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    const uint moved = i < 1 ? word << 3 : word >> (4 * i - 3);
    return as_type<vec<bfloat16_t, 2>>((moved & 0x00780078) | 0x41804180);
  }
};
template <>
struct Codes<half, 8> {
  enum : uint { kPairs = 2, kOffset = 256 };
  static half2 pair(uint word, uint i) {
    const uint moved = i < 1 ? word << 2 : word >> 6;
    return as_type<half2>((moved & 0x03fc03fc) | 0x5c005c00);
  }
};
// The fraction has only seven bits, so the highest bit is added, and there is no offset.
template <>
struct Codes<bfloat16_t, 8> {
  enum : uint { kPairs = 2, kOffset = 0 };
  static vec<bfloat16_t, 2> pair(uint word, uint i) {
    const uint codes = word >> (8 * i);
    const uint highest = (codes >> 7 & 0x00010001) * 0x4300;
    const uint others = (codes & 0x007f007f) | 0x43004300;
    return as_type<vec<bfloat16_t, 2>>(others) - vec<bfloat16_t, 2>(bfloat16_t(128.0f)) +
           as_type<vec<bfloat16_t, 2>>(highest);
  }
};

// How the lanes share a group of a row.
template <typename T, uint bits, uint group_size>
struct Quarter {
  using Code = Codes<T, bits>;
  enum : uint {
    kSize = group_size / 4,
    kWords = kSize * bits / 32,
    kInWord = 32 / bits,
    kWordsAtOnce = kWords < 4 ? kWords : 4,
    kInVector = kInWord * kWordsAtOnce,
  };
  using Vector = conditional_t<kWords == 1, uint, vec<uint, kWords == 1 ? 2 : kWordsAtOnce>>;
  using Elements = vec<T, Code::kPairs>;
};

// Where a lane reads the next groups of a row.
template <typename T, uint bits, uint group_size>
struct RowPlace {
  using Vector = typename Quarter<T, bits, group_size>::Vector;
  const device Vector* words;
  const device T* scales;
  const device T* biases;

  METAL_FUNC void advance() {
    words += kGroupsAtOnce * (group_size / Quarter<T, bits, group_size>::kInVector);
    scales += kGroupsAtOnce;
    biases += kGroupsAtOnce;
  }
};

// What a lane reads of a few groups of a row. With `whole`, all groups are read in such parts.
// Otherwise the last one is read once more where there is none.
template <typename T, uint bits, uint group_size, bool whole>
struct Part {
  using Own = Quarter<T, bits, group_size>;
  using Pair = vec<T, kGroupsAtOnce>;

  // `left`: groups up to the end of the row.
  METAL_FUNC void read(const thread RowPlace<T, bits, group_size>& from, uint left) {
    if constexpr (whole) {
      scales = *reinterpret_cast<const device Pair*>(from.scales);
      biases = *reinterpret_cast<const device Pair*>(from.biases);
    }
#pragma unroll
    for (uint j = 0; j < kGroupsAtOnce; ++j) {
      const uint next = whole ? j : min(j, left - 1);
      if constexpr (!whole) {
        scales[j] = from.scales[next];
        biases[j] = from.biases[next];
      }
      read_words(j, from.words + next * (group_size / Own::kInVector));
    }
  }

  METAL_FUNC void read_words(uint j, const device typename Own::Vector* from) {
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

  uint words[kGroupsAtOnce][Own::kWords];
  Pair scales, biases;
};

// What a lane reads at once: of matrices of rows above each other, and of two vectors, if there are
// several.
template <typename T, uint bits, uint group_size, bool single, bool whole>
struct Read {
  using Own = Quarter<T, bits, group_size>;
  Part<T, bits, group_size, whole> rows[kHigh];
  typename Own::Elements x[2][kGroupsAtOnce][Own::kWords];
};

// A single vector's elements in threadgroup memory, in the order in which products need them: there
// they are loaded as a matrix whose columns are equal. A SIMD-group has a part of them at a time.
template <typename T, uint bits, uint group_size>
struct Staged {
  using Own = Quarter<T, bits, group_size>;
  enum : uint { kGroups = kStaged / group_size, kUnits = kStaged / 32 / Own::kInWord };

  // Reads what belongs to the lane of the groups from `group` on.
  METAL_FUNC void read(const device T* vector, uint group, uint columns, uint lane) {
#pragma unroll
    for (uint t = 0; t < kUnits; ++t) {
      const uint at = min(group * group_size + (t * 32 + lane) * Own::kInWord, columns - Own::kInWord);
#pragma unroll
      for (uint i = 0; i < Own::kInWord / 4; ++i)
        elements[t][i] = *reinterpret_cast<const device vec<T, 4>*>(vector + at + i * 4);
    }
  }

  METAL_FUNC void write(threadgroup T* to, uint lane) const {
    simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint t = 0; t < kUnits; ++t) {
      const uint unit = t * 32 + lane, in_group = unit % (group_size / Own::kInWord);
      const uint quarter = in_group / Own::kWords, word = in_group % Own::kWords;
      threadgroup T* place = to + unit / (group_size / Own::kInWord) * group_size +
                             word * Own::Code::kPairs * kSide + quarter * 2;
#pragma unroll
      for (uint i = 0; i < Own::Code::kPairs; ++i) {
        const uint j = i + Own::Code::kPairs;
        *reinterpret_cast<threadgroup vec<T, 2>*>(place + i * kSide) =
            vec<T, 2>(elements[t][0][i], elements[t][j / 4][j % 4]);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }

  vec<T, 4> elements[kUnits][Own::kInWord / 4];
};

// Where it reads.
template <typename T, uint bits, uint group_size, bool single, bool whole>
struct Places {
  using Own = Quarter<T, bits, group_size>;

  METAL_FUNC void read(thread Read<T, bits, group_size, single, whole>& to) const {
#pragma unroll
    for (uint v = 0; v < 2 && !single; ++v) {
#pragma unroll
      for (uint j = 0; j < kGroupsAtOnce; ++j) {
        const uint next = whole ? j : min(j, left - 1);
#pragma unroll
        for (uint word = 0; word < Own::kWords; ++word)
          to.x[v][j][word] = vectors[v][next * kGroup + word * kWord];
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) to.rows[i].read(rows[i], left);
  }

  METAL_FUNC void advance() {
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) rows[i].advance();
#pragma unroll
    for (uint v = 0; v < 2 && !single; ++v) vectors[v] += kGroupsAtOnce * kGroup;
    left -= kGroupsAtOnce;
  }

  RowPlace<T, bits, group_size> rows[kHigh];
  const device typename Own::Elements* vectors[2];
  uint left;

 private:
  enum : uint {
    kWord = uint(Own::kInWord) / uint(Own::Code::kPairs),
    kGroup = group_size / uint(Own::Code::kPairs),
  };
};

// The sums of a SIMD-group.
template <typename T, uint bits, uint group_size, bool single, bool whole>
struct Sums {
  using Own = Quarter<T, bits, group_size>;
  using Code = typename Own::Code;

  // Adds group `j` of what was read. `staged` has the elements of a single vector.
  METAL_FUNC void add(const thread Read<T, bits, group_size, single, whole>& read, uint j,
                      const threadgroup T* staged) {
    simdgroup_float8x8 products[kHigh], of_x;
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) products[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    of_x = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    const auto ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
    for (uint word = 0; word < Own::kWords; ++word) {
#pragma unroll
      for (uint pair = 0; pair < Code::kPairs; ++pair) {
        simdgroup_matrix<T, 8, 8> elements;
        if constexpr (single) {
          simdgroup_load(elements, staged + (word * Code::kPairs + pair) * kSide, 0, ulong2(0), true);
        } else {
          elements.thread_elements() =
              vec<T, 2>(read.x[0][j][word][pair], read.x[1][j][word][pair]);
        }
#pragma unroll
        for (uint i = 0; i < kHigh; ++i) {
          simdgroup_matrix<T, 8, 8> codes;
          codes.thread_elements() = Code::pair(read.rows[i].words[j][word], pair);
          simdgroup_multiply_accumulate(products[i], codes, elements, products[i]);
        }
        simdgroup_multiply_accumulate(of_x, ones, elements, of_x);
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      const float scale = read.rows[i].scales[j];
      const float bias = fma(-float(Code::kOffset), scale, float(read.rows[i].biases[j]));
      totals[i] = fma(scale, products[i].thread_elements(), totals[i]);
      totals[i] = fma(bias, of_x.thread_elements(), totals[i]);
    }
  }

  float2 totals[kHigh] = {};
};

template <typename T, uint bits, uint group_size, bool single, bool whole>
[[kernel, max_total_threads_per_threadgroup(kFewVectorsMostThreads)]] void quantized_few(
    const device typename Quarter<T, bits, group_size>::Vector* w [[buffer(0)]],
    const device T* scales [[buffer(1)]], const device T* biases [[buffer(2)]],
    const device T* x [[buffer(3)]], device T* out [[buffer(4)]],
    const device int* lhs [[buffer(5)]], const device int* rhs [[buffer(6)]],
    constant const MatvecParams& p [[buffer(7)]], uint3 tile [[threadgroup_position_in_grid]],
    uint member [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using Own = Quarter<T, bits, group_size>;
  using Stage = Staged<T, bits, group_size>;
  using Elements = typename Own::Elements;
  threadgroup float of_groups[kMostSimdgroups][kRows * kVectors];
  threadgroup T staged_vectors[kMostSimdgroups][single ? kStaged : 1];
  threadgroup T* const staged = staged_vectors[simdgroup];
  const uint groups = p.columns / group_size;
  const uint batch_x = p.gathered ? listed(lhs, tile.z, p.batches_x) : tile.z;
  const uint batch_w = p.gathered ? listed(rhs, tile.z, p.batches_w) : 0;
  const device T* const vectors = x + int64_t(batch_x) * p.vectors * p.columns;
  const MatrixPlace place(lane);

  // The SIMD-group's groups.
  const uint parts_of_row = (groups + kGroupsAtOnce - 1) / kGroupsAtOnce;
  const uint own = (parts_of_row + simdgroups - 1) / simdgroups * kGroupsAtOnce;
  const uint start = min(simdgroup * own, groups), end = min(start + own, groups);

  // What lies beyond the last row or vector is computed once more.
  Places<T, bits, group_size, single, whole> places;
  places.left = groups - start;
#pragma unroll
  for (uint i = 0; i < kHigh; ++i) {
    const uint row = min(tile.x * kRows + i * kSide + place.row, p.rows - 1);
    const int64_t at = (int64_t(batch_w) * p.rows + row) * groups + start;
    places.rows[i].words =
        w + at * (group_size / Own::kInVector) + place.column / 2 * (Own::kSize / Own::kInVector);
    places.rows[i].scales = scales + at;
    places.rows[i].biases = biases + at;
  }
  // A row of the matrix of elements belongs to the lanes that have its codes: two rows to each.
  const uint first = start * group_size + place.row / 2 * Own::kSize + place.row % 2 * Own::Code::kPairs;
#pragma unroll
  for (uint v = 0; v < 2 && !single; ++v) {
    const uint vector = min(tile.y * kVectors + place.column + v, p.vectors - 1);
    places.vectors[v] =
        reinterpret_cast<const device Elements*>(vectors + int64_t(vector) * p.columns + first);
  }

  // The next groups are on their way while these are multiplied.
  Sums<T, bits, group_size, single, whole> sums;
  Read<T, bits, group_size, single, whole> here, next;
  Stage stage;
  if (start < end) {
    if constexpr (single) stage.read(vectors, start, p.columns, lane);
    places.read(next);
  }
  for (uint group = start; group < end; group += kGroupsAtOnce) {
    here = next;
    places.advance();
    if (group + kGroupsAtOnce < end) places.read(next);
    const uint of_stage = (group - start) % Stage::kGroups;
    if constexpr (single) {
      if (of_stage == 0) {
        stage.write(staged, lane);
        if (group + Stage::kGroups < end) {
          stage.read(vectors, group + Stage::kGroups, p.columns, lane);
        }
      }
    }
#pragma unroll
    for (uint j = 0; j < kGroupsAtOnce; ++j) {
      if (whole || group + j < end) sums.add(here, j, staged + (of_stage + j) * group_size);
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

// Names of kernels whose rows have an even number of groups, and of those for any number.
#define QUANTIZED_FEW(bits, group, name, T)                                   \
  MLX_KERNEL("QuantizedFew_affine" #bits "_" #group "_" #name "_single",      \
             quantized_few<T, bits, group, true, true>)                       \
  MLX_KERNEL("QuantizedFew_affine" #bits "_" #group "_" #name "_single_any",  \
             quantized_few<T, bits, group, true, false>)                      \
  MLX_KERNEL("QuantizedFew_affine" #bits "_" #group "_" #name "_several",     \
             quantized_few<T, bits, group, false, true>)                      \
  MLX_KERNEL("QuantizedFew_affine" #bits "_" #group "_" #name "_several_any", \
             quantized_few<T, bits, group, false, false>)
#define FOR_GROUPS(bits, name, T)  \
  QUANTIZED_FEW(bits, 32, name, T) \
  QUANTIZED_FEW(bits, 64, name, T) \
  QUANTIZED_FEW(bits, 128, name, T)
FOR_GROUPS(4, float16, half)
FOR_GROUPS(4, bfloat16, bfloat16_t)
FOR_GROUPS(8, float16, half)
FOR_GROUPS(8, bfloat16, bfloat16_t)
