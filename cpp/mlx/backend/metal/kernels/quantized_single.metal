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
  };
};

// Where a lane reads the next block of a row. With `whole`, all rows consist of whole blocks.
template <typename T, uint bits, uint group_size, bool whole>
struct RowPlace {
  using U = Unit<T, bits, group_size>;
  using Numbers = conditional_t<
      !whole || uint(U::kNumbers) == 1, T, conditional_t<uint(U::kNumbers) == 2, uint, uint2>>;
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

  METAL_FUNC void advance(uint blocks) {
    words += blocks * kWordsOfBlock;
    scales += blocks * kNumbersOfBlock;
    biases += blocks * kNumbersOfBlock;
  }

  const device uint4* words;
  const device Numbers* scales;
  const device Numbers* biases;
};

// Scales, or biases, of a lane's part of a block, as they were read: what is computed with them
// waits until they are needed.
template <typename T, uint bits, uint group_size, bool whole>
struct Scales {
  using U = Unit<T, bits, group_size>;
  using Pair = vec<T, 2>;
  using Numbers = typename RowPlace<T, bits, group_size, whole>::Numbers;
  enum : uint { kRead = !whole || uint(U::kNumbers) != 1 ? kUnits : 1 };
  using Read = conditional_t<!whole, Pair, conditional_t<uint(U::kNumbers) == 1, T, uint>>;

  // `left`: columns up to the end of the row, beyond which there are zeros.
  METAL_FUNC void read(const device Numbers* from, uint quarter, uint left) {
    if constexpr (!whole) {
#pragma unroll
      for (uint u = 0; u < kUnits; ++u) {
#pragma unroll
        for (uint i = 0; i < 2; ++i) {
          const uint group = u * U::kSize / group_size + quarter * 2 % U::kGroups + i;
          numbers[u][i] = group * group_size < left ? from[group] : T(0);
        }
      }
    } else if constexpr (U::kGroups == 4) {
      numbers[0] = from[0];
      numbers[1] = from[2];
    } else if constexpr (U::kNumbers == 4) {
      const uint2 all = *from;
      numbers[0] = all.x;
      numbers[1] = all.y;
    } else {
      numbers[0] = *from;
    }
  }

  // Those of the groups in the lane's two columns of a unit's product.
  METAL_FUNC Pair pair(uint u) const {
    if constexpr (!whole) {
      return numbers[u];
    } else if constexpr (U::kNumbers == 1) {
      return Pair(numbers[0]);
    } else if constexpr (U::kNumbers == 2 && U::kGroups != 4) {
      return Pair(as_type<Pair>(numbers[0])[u]);
    } else {
      return as_type<Pair>(numbers[u]);
    }
  }

  Read numbers[kRead];
};

// A lane's part of a block of a row.
template <typename T, uint bits, uint group_size, bool whole>
struct RowPart {
  using U = Unit<T, bits, group_size>;

  // `left`: columns up to the end of the row.
  METAL_FUNC void read(const thread RowPlace<T, bits, group_size, whole>& from, uint quarter,
                       uint left) {
#pragma unroll
    for (uint u = 0; u < kUnits; ++u) {
      const bool there = whole || u * U::kSize + quarter * U::kOfLane < left;
      words[u] = there ? from.words[u * 4] : uint4(0);
    }
    scales.read(from.scales, quarter, left);
    biases.read(from.biases, quarter, left);
  }

  uint4 words[kUnits];
  Scales<T, bits, group_size, whole> scales, biases;
};

// The vector's elements in threadgroup memory, as products need them: matrices of two codes of each
// lane, by columns, of which each is one group's. A lane writes those that meet a word, if there
// are so many words: `kStaged` elements are one or two units.
template <typename T, uint bits, uint group_size, bool whole>
struct Staged {
  using U = Unit<T, bits, group_size>;
  using Code = typename U::Code;
  enum : uint {
    kOfMatrix = kSide * U::kGroups,
    kFitting = kStaged / (U::kSize * U::kGroups),
    kUnitsAtOnce = kFitting < kUnits ? uint(kFitting) : kUnits,
    kOfBlock = kUnits / kUnitsAtOnce,
    kWordsAtOnce = kUnitsAtOnce * 4 * kWords,
    kOfWord = Code::kPairs * kOfMatrix + kSide,  // so that words lie in different banks
    // A matrix has eight columns, but the last ones are unused.
    kLength = kWordsAtOnce / 4 * uint(kOfWord) + kSide * kSide,
  };

  METAL_FUNC static bool has_word(uint lane) { return kWordsAtOnce >= 32 || lane < kWordsAtOnce; }

  // Reads what belongs to the lane of the columns from `column` on, and zeros beyond the last one.
  METAL_FUNC void read(const device vec<T, 4>* vector, uint column, uint columns, uint lane) {
    const uint at = column + lane * U::kInWord;
    const bool there = has_word(lane) && (whole || at < columns);
#pragma unroll
    for (uint i = 0; i < U::kInWord / 4; ++i) {
      elements[i] = there ? vector[at / 4 + i] : vec<T, 4>(T(0));
    }
  }

  METAL_FUNC void write(threadgroup T* to, uint lane) const {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint unit = lane / (4 * kWords), quarter = lane / kWords % 4, word = lane % kWords;
    threadgroup T* place = to + (unit * kWords + word) * uint(kOfWord) +
                           quarter * U::kGroups / 4 * kSide + quarter * 2;
    if (has_word(lane)) {
#pragma unroll
      for (uint i = 0; i < Code::kPairs; ++i) {
        const uint j = i + Code::kPairs;
        *reinterpret_cast<threadgroup vec<T, 2>*>(place + i * kOfMatrix) =
            vec<T, 2>(elements[i / 4][i % 4], elements[j / 4][j % 4]);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }

  vec<T, 4> elements[U::kInWord / 4];
};

// The sums of a SIMD-group.
template <typename T, uint bits, uint group_size, bool whole>
struct Sums {
  using U = Unit<T, bits, group_size>;
  using Code = typename U::Code;
  using Stage = Staged<T, bits, group_size, whole>;

  METAL_FUNC void add(const thread RowPart<T, bits, group_size, whole> (&rows)[kHigh], uint u,
                      const threadgroup T* staged) {
    GroupProducts<T, bits> products;
#pragma unroll
    for (uint word = 0; word < kWords; ++word) {
#pragma unroll
      for (uint pair = 0; pair < Code::kPairs; ++pair) {
        simdgroup_matrix<T, 8, 8> elements;
        const uint matrix = word * uint(Stage::kOfWord) + pair * uint(Stage::kOfMatrix);
        simdgroup_load(elements, staged + matrix, U::kGroups == 1 ? 0 : kSide, ulong2(0), true);
        products.add(elements, pair, [&](uint i) { return rows[i].words[u][word]; });
      }
    }
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      products.add_to(totals[i], i, float2(rows[i].scales.pair(u)), float2(rows[i].biases.pair(u)));
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
  using Stage = Staged<T, bits, group_size, whole>;
  threadgroup float of_rows[kMostSimdgroups][kRows];
  threadgroup T staged_elements[kMostSimdgroups][Stage::kLength];
  threadgroup T* const staged = staged_elements[simdgroup];
  const uint batch_x = p.gathered ? listed(lhs, tile.z, p.batches_x) : tile.z;
  const uint batch_w = p.gathered ? listed(rhs, tile.z, p.batches_w) : 0;
  const device vec<T, 4>* const vector = x + int64_t(batch_x) * (p.columns / 4);
  const MatrixPlace place(lane);
  const uint quarter = place.column / 2;

  // The SIMD-groups take the blocks in turn, so that they read neighbouring memory.
  const uint start = simdgroup * U::kBlock, step = simdgroups * U::kBlock;

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
#pragma unroll
    for (uint at = lane * 8; at < Stage::kLength; at += 32 * 8) {
      *reinterpret_cast<threadgroup uint4*>(staged + at) = uint4(0);
    }
  }

  // All of a block is read before it is multiplied; other SIMD-groups multiply meanwhile. To read
  // the next block, too, takes more time: its registers would be copied, which waits for the reads.
  Sums<T, bits, group_size, whole> sums;
  for (uint column = start; column < p.columns; column += step) {
    Stage stages[Stage::kOfBlock];
#pragma unroll
    for (uint s = 0; s < Stage::kOfBlock; ++s) {
      stages[s].read(vector, column + s * Stage::kUnitsAtOnce * U::kSize, p.columns, lane);
    }
    RowPart<T, bits, group_size, whole> parts[kHigh];
#pragma unroll
    for (uint i = 0; i < kHigh; ++i) {
      parts[i].read(rows[i], quarter, p.columns - column);
      rows[i].advance(simdgroups);
    }
#pragma unroll
    for (uint u = 0; u < kUnits; ++u) {
      const uint of_stage = u % Stage::kUnitsAtOnce;
      if (of_stage == 0) stages[u / Stage::kUnitsAtOnce].write(staged, lane);
      sums.add(parts, u, staged + of_stage * (kWords * uint(Stage::kOfWord)));
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
