// Products of quantised rows and one vector of 16-bit floats, by SIMD-group matrices, for a GPU.
// A threadgroup computes 16 rows, and its SIMD-groups share the columns. Matrices of codes have
// rows of w, and four lanes have a row: each reads 16 bytes, and these lie together, because each
// row that a read touches takes time. Such a unit can have several groups. As there is one vector,
// the columns of the other factor are free: each holds the elements of one group, and zeros. So
// each column of the product is the sum of one group. Scales and biases follow for these sums.
#include <metal_simdgroup_matrix>

#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/matrix_place.h"
#include "mlx/backend/metal/kernels/quantized_params.h"
#include "mlx/backend/metal/kernels/quantized_tiles.h"
#include "mlx/backend/metal/kernels/types.h"

constant constexpr uint kWords = 4;     // of a lane in a unit
constant constexpr uint kUnits = kBlockBits / (4 * kWords * 32);
constant constexpr uint kStaged = 512;  // elements of a SIMD-group in threadgroup memory

// How the lanes share a row.
template <typename T, uint bits, uint group_size>
struct Unit {
  using Code = Codes<T, bits>;
  enum : uint {
    kInWord = 32 / bits,
    kOfLane = kWords * kInWord,
    kSize = 4 * kOfLane,
    kGroups = kSize < group_size ? 1 : kSize / group_size,
    kBlock = kBlockBits / bits,
    kGroupsOfBlock = kBlock / group_size,
    kNumbers = kGroups == 4 ? 2 : kGroupsOfBlock,  // scales that a lane reads at once
    kAhead = bits == 4 ? 1 : 2,                    // blocks that are on their way
  };
};

// Where a lane reads the next block of a row. With `whole`, all rows consist of whole blocks.
template <typename T, uint bits, uint group_size, bool whole>
struct RowPlace {
  using U = Unit<T, bits, group_size>;
  using Numbers =
      conditional_t<whole && uint(U::kNumbers) != 1, vec<T, U::kNumbers == 1 ? 2 : U::kNumbers>, T>;
  enum : uint {
    kWordsOfBlock = kUnits * 4,
    kNumbersOfBlock = U::kGroupsOfBlock / (whole ? uint(U::kNumbers) : 1),
  };

  RowPlace() = default;
  METAL_FUNC RowPlace(const device uint4* w, const device T* all_scales, const device T* all_biases,
                      int64_t row, uint columns, uint column, uint quarter) {
    const int64_t lane_words = row * (columns / U::kOfLane) + column / U::kOfLane;
    constexpr uint step = whole ? uint(U::kBlock) : group_size;  // of columns
    const int64_t steps = row * (columns / step) + column / step;
    const int64_t numbers = whole ? steps * kNumbersOfBlock : steps;
    words = w + lane_words + quarter;
    const uint own = whole && U::kGroups == 4 ? quarter % 2 : 0;
    scales = reinterpret_cast<const device Numbers*>(all_scales) + numbers + own;
    biases = reinterpret_cast<const device Numbers*>(all_biases) + numbers + own;
  }

  METAL_FUNC void advance() {
    words += kWordsOfBlock;
    scales += kNumbersOfBlock;
    biases += kNumbersOfBlock;
  }

  const device uint4* words;
  const device Numbers* scales;
  const device Numbers* biases;
};

// A lane's part of a block of a row. There are no groups beyond the last one: their scales and
// biases are zeros.
template <typename T, uint bits, uint group_size, bool whole>
struct RowPart {
  using U = Unit<T, bits, group_size>;
  using Pair = vec<T, 2>;
  using Numbers = typename RowPlace<T, bits, group_size, whole>::Numbers;

  // `left`: columns up to the end of the row.
  METAL_FUNC void read(const thread RowPlace<T, bits, group_size, whole>& from, uint quarter,
                       uint left) {
#pragma unroll
    for (uint u = 0; u < kUnits; ++u) {
      const bool there = whole || u * U::kSize + quarter * U::kOfLane < left;
      words[u] = there ? from.words[u * 4] : uint4(0);
    }
    read_pairs(scales, from.scales, quarter, left);
    read_pairs(biases, from.biases, quarter, left);
  }

  // The numbers of the groups in the lane's two columns of each unit's product.
  METAL_FUNC static void read_pairs(thread Pair (&to)[kUnits], const device Numbers* from,
                                    uint quarter, uint left) {
    if constexpr (!whole) {
#pragma unroll
      for (uint u = 0; u < kUnits; ++u) {
#pragma unroll
        for (uint i = 0; i < 2; ++i) {
          const uint group = u * U::kSize / group_size + quarter * 2 % U::kGroups + i;
          to[u][i] = group * group_size < left ? from[group] : T(0);
        }
      }
    } else if constexpr (U::kGroups == 4) {
      to[0] = from[0];
      to[1] = from[2];
    } else if constexpr (U::kNumbers == 4) {
      const auto all = *from;
      to[0] = all.xy;
      to[1] = all.zw;
    } else if constexpr (U::kNumbers == 2) {
      const auto all = *from;
      to[0] = all.xx;
      to[1] = all.yy;
    } else {
      to[0] = to[1] = Pair(*from);
    }
  }

  uint4 words[kUnits];
  Pair scales[kUnits], biases[kUnits];
};

// The vector's elements in threadgroup memory, as products need them: matrices of two codes of each
// lane, by columns, of which each is one group's. `kStaged` elements are a few units.
template <typename T, uint bits, uint group_size>
struct Staged {
  using U = Unit<T, bits, group_size>;
  using Code = typename U::Code;
  enum : uint {
    kOfMatrix = kSide * U::kGroups,
    kUnitsAtOnce = kStaged / (U::kSize * U::kGroups),
    kWordsAtOnce = kUnitsAtOnce * 4 * kWords,
    kOfLane = (kWordsAtOnce + 31) / 32,  // words
    kLength = kStaged + kSide * kSide,   // a matrix has eight columns, but the last ones are unused
  };

  // Reads what belongs to the lane of the columns from `column` on, and zeros beyond the last one.
  METAL_FUNC void read(const device vec<T, 4>* vector, uint column, uint columns, uint lane) {
#pragma unroll
    for (uint t = 0; t < kOfLane; ++t) {
      const uint at = column + (t * 32 + lane) * U::kInWord;
#pragma unroll
      for (uint i = 0; i < U::kInWord / 4; ++i) {
        elements[t][i] = at < columns ? vector[at / 4 + i] : vec<T, 4>(T(0));
      }
    }
  }

  METAL_FUNC void write(threadgroup T* to, uint lane) const {
    simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint t = 0; t < kOfLane; ++t) {
      const uint number = t * 32 + lane;
      const uint unit = number / (4 * kWords);
      const uint quarter = number / kWords % 4, word = number % kWords;
      threadgroup T* place = to + (unit * kWords + word) * (uint(Code::kPairs) * kOfMatrix) +
                             quarter * U::kGroups / 4 * kSide + quarter * 2;
      if (kWordsAtOnce < 32 && number >= kWordsAtOnce) continue;
#pragma unroll
      for (uint i = 0; i < Code::kPairs; ++i) {
        const uint j = i + Code::kPairs;
        *reinterpret_cast<threadgroup vec<T, 2>*>(place + i * kOfMatrix) =
            vec<T, 2>(elements[t][i / 4][i % 4], elements[t][j / 4][j % 4]);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }

  vec<T, 4> elements[kOfLane][U::kInWord / 4];
};

// The sums of a SIMD-group.
template <typename T, uint bits, uint group_size, bool whole>
struct Sums {
  using U = Unit<T, bits, group_size>;
  using Code = typename U::Code;
  using Stage = Staged<T, bits, group_size>;

  METAL_FUNC void add(const thread RowPart<T, bits, group_size, whole> (&rows)[kHigh], uint u,
                      const threadgroup T* staged) {
    simdgroup_float8x8 products[kHigh], of_x;
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) products[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    of_x = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    const auto ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
    for (uint word = 0; word < kWords; ++word) {
#pragma unroll
      for (uint pair = 0; pair < Code::kPairs; ++pair) {
        simdgroup_matrix<T, 8, 8> elements;
        simdgroup_load(elements, staged + (word * Code::kPairs + pair) * uint(Stage::kOfMatrix),
                       U::kGroups == 1 ? 0 : kSide, ulong2(0), true);
#pragma unroll
        for (uint i = 0; i < kHigh; ++i) {
          simdgroup_matrix<T, 8, 8> codes;
          codes.thread_elements() = Code::pair(rows[i].words[u][word], pair);
          simdgroup_multiply_accumulate(products[i], codes, elements, products[i]);
        }
        simdgroup_multiply_accumulate(of_x, ones, elements, of_x);
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      const float2 scale = float2(rows[i].scales[u]);
      const float2 bias = fma(float2(-float(Code::kOffset)), scale, float2(rows[i].biases[u]));
      totals[i] = fma(scale, products[i].thread_elements(), totals[i]);
      totals[i] = fma(bias, of_x.thread_elements(), totals[i]);
    }
  }

  // The sum of a row, in the lane with its first columns.
  METAL_FUNC float of_row(uint i) const {
    if (U::kGroups == 1) return totals[i].x;
    const float sum = totals[i].x + totals[i].y;
    return U::kGroups == 2 ? sum : sum + simd_shuffle_xor(sum, 1);
  }

  float2 totals[kHigh] = {};
};

template <typename T, uint bits, uint group_size, bool whole>
[[kernel, max_total_threads_per_threadgroup(kFewVectorsMostThreads)]] void quantized_single(
    const device uint4* w [[buffer(0)]], const device T* scales [[buffer(1)]],
    const device T* biases [[buffer(2)]], const device vec<T, 4>* x [[buffer(3)]],
    device T* out [[buffer(4)]], const device int* lhs [[buffer(5)]],
    const device int* rhs [[buffer(6)]], constant const MatvecParams& p [[buffer(7)]],
    uint3 tile [[threadgroup_position_in_grid]], uint member [[thread_index_in_threadgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  using U = Unit<T, bits, group_size>;
  using Stage = Staged<T, bits, group_size>;
  threadgroup float of_rows[kMostSimdgroups][kRows];
  threadgroup T staged_elements[kMostSimdgroups][Stage::kLength];
  threadgroup T* const staged = staged_elements[simdgroup];
  const uint batch_x = p.gathered ? listed(lhs, tile.z, p.batches_x) : tile.z;
  const uint batch_w = p.gathered ? listed(rhs, tile.z, p.batches_w) : 0;
  const device vec<T, 4>* const vector = x + int64_t(batch_x) * (p.columns / 4);
  const MatrixPlace place(lane);
  const uint quarter = place.column / 2;

  // The SIMD-group's columns.
  const uint blocks = (p.columns + U::kBlock - 1) / U::kBlock;
  const uint own = (blocks + simdgroups - 1) / simdgroups * U::kBlock;
  const uint start = min(simdgroup * own, p.columns), end = min(start + own, p.columns);

  // What lies beyond the last row is computed once more.
  RowPlace<T, bits, group_size, whole> rows[kHigh];
#pragma unroll
  for (uint i = 0; i < kHigh; ++i) {
    const uint row = min(tile.x * kRows + i * kSide + place.row, p.rows - 1);
    rows[i] = RowPlace<T, bits, group_size, whole>(
        w, scales, biases, int64_t(batch_w) * p.rows + row, p.columns, start, quarter);
  }
  // A group's columns keep their zeros for the other groups.
  if (U::kGroups > 1) {
    for (uint at = lane; at < Stage::kLength; at += 32) staged[at] = T(0);
  }

  // What comes next is on its way while a block is multiplied.
  constexpr uint ahead = U::kAhead;
  RowPart<T, bits, group_size, whole> parts[ahead][kHigh];
  Sums<T, bits, group_size, whole> sums;
  Stage stage;
  const auto read = [&](uint k, uint column) {
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      if (column < end) parts[k][i].read(rows[i], quarter, p.columns - column);
      rows[i].advance();
    }
  };
  if (start < end) stage.read(vector, start, p.columns, lane);
#pragma unroll
  for (uint k = 0; k < ahead; ++k) read(k, start + k * U::kBlock);
  for (uint first = start; first < end; first += ahead * U::kBlock) {
#pragma unroll
    for (uint k = 0; k < ahead; ++k) {
      const uint column = first + k * U::kBlock;
      if (column < end) {
#pragma unroll
        for (uint u = 0; u < kUnits; ++u) {
          const uint of_stage = ((column - start) / U::kSize + u) % Stage::kUnitsAtOnce;
          if (of_stage == 0) {
            stage.write(staged, lane);
            const uint following = column + (u + Stage::kUnitsAtOnce) * U::kSize;
            if (following < end) stage.read(vector, following, p.columns, lane);
          }
          sums.add(parts[k], u, staged + of_stage * (U::kSize * U::kGroups));
        }
      }
      read(k, column + ahead * U::kBlock);
    }
  }

#pragma unroll
  for (uint i = 0; i < kHigh; ++i) {
    const float sum = sums.of_row(i);
    if (quarter == 0) of_rows[simdgroup][i * kSide + place.row] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint row = tile.x * kRows + member;
  if (member >= kRows || row >= p.rows) return;
  float sum = 0.0f;
  for (uint i = 0; i < simdgroups; ++i) sum += of_rows[i][member];
  out[int64_t(tile.z) * p.rows + row] = T(sum);
}

// Names of kernels whose rows are whole blocks, and of those for any rows.
#define QUANTIZED_SINGLE(bits, group, name, T)                           \
  MLX_KERNEL("QuantizedSingle_affine" #bits "_" #group "_" #name,        \
             quantized_single<T, bits, group, true>)                     \
  MLX_KERNEL("QuantizedSingle_affine" #bits "_" #group "_" #name "_any", \
             quantized_single<T, bits, group, false>)
#define FOR_GROUPS(bits, name, T)     \
  QUANTIZED_SINGLE(bits, 32, name, T) \
  QUANTIZED_SINGLE(bits, 64, name, T) \
  QUANTIZED_SINGLE(bits, 128, name, T)
FOR_GROUPS(4, float16, half)
FOR_GROUPS(4, bfloat16, bfloat16_t)
FOR_GROUPS(8, float16, half)
FOR_GROUPS(8, bfloat16, bfloat16_t)
