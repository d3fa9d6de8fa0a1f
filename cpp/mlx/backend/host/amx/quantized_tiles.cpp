// Packs factors into tiles of bfloat16, and multiplies them.
#include "mlx/backend/host/amx/quantized_tiles.h"

#if defined(__x86_64__)

#include <algorithm>

#include "mlx/backend/host/amx/square_registers.h"

namespace mlx::core::cpu {

namespace {

// What the upper half leaves out, exactly. Of infinity, nothing.
MLX_AMX inline __m512 rest_of(__m512 x) {
  constexpr int kInfinities = 0x18;
  const __m512i upper = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(-0x10000));
  const __mmask16 finite = _knot_mask16(_mm512_fpclass_ps_mask(x, kInfinities));
  return _mm512_maskz_sub_ps(finite, x, _mm512_castsi512_ps(upper));
}

// Packs 32 numbers of a row; `to` is the row in the tile of the first piece, and the tiles of the
// pieces lie `piece` apart.
template <int pieces>
MLX_AMX inline void pack_floats(__m512 low, __m512 high, uint16_t* to, int piece) {
  _mm512_store_si512(to, upper_halves(low, high));
  if constexpr (pieces > 1) {
    pack_floats<pieces - 1>(rest_of(low), rest_of(high), to + piece, piece);
  }
}

template <typename T>
MLX_AMX void pack_row(const T* from, int columns, int group_size, uint16_t* to, float* sums) {
  for (int column = 0; column < columns; column += group_size) {
    __m512 sum = _mm512_setzero_ps();
    for (int i = column; i < column + group_size; i += kStep, to += kPairShorts * kPieces<T>) {
      const __m512 low = load_floats(from + i), high = load_floats(from + i + kLanes16);
      sum = _mm512_add_ps(sum, _mm512_add_ps(low, high));
      pack_floats<kPieces<T>>(low, high, to, kPairShorts);
    }
    *sums++ = _mm512_reduce_add_ps(sum);
  }
}

MLX_AMX void clear_row(int columns, int pieces, uint16_t* to) {
  for (int i = 0; i < columns / kStep * pieces; ++i) {
    _mm512_store_si512(to + kPairShorts * i, _mm512_setzero_si512());
  }
}

}  // namespace

// ---- packed rows of x ----

PackedRows::PackedRows(void* memory, int rows, int columns, int group_size, int pieces)
    : rows(in_squares(rows)),
      columns(columns),
      group_size(group_size),
      pieces(pieces),
      tiles(static_cast<uint16_t*>(memory)),
      sums(reinterpret_cast<float*>(tiles + int64_t{this->rows} * columns * pieces)) {}

size_t PackedRows::bytes(int rows, int columns, int group_size, int pieces) {
  const size_t of_row = sizeof(uint16_t) * columns * pieces + sizeof(float) * columns / group_size;
  return of_row * in_squares(rows);
}

uint16_t* PackedRows::tiles_at(int row, int column) const {
  const int width = std::min(kBlock, columns - column);
  return tiles + (int64_t{rows} * column + int64_t{row} * width) * pieces;
}

template <typename T>
MLX_AMX void pack_rows(const T* const (&from)[kSquare], int row, int column, const PackedRows& to) {
  const int width = std::min(kBlock, to.columns - column);
  uint16_t* tiles = to.tiles_at(row, column);
  for (int i = 0; i < kSquare; ++i) {
    uint16_t* at = tiles + kTileShorts * (i / kTileRows) + kStep * (i % kTileRows);
    float* sums = to.sums_at(row + i, column);
    if (from[i] != nullptr) {
      pack_row(from[i] + column, width, to.group_size, at, sums);
    } else {
      clear_row(width, kPieces<T>, at);
      std::fill_n(sums, width / to.group_size, 0.0f);
    }
  }
}

// ---- unpacked columns of w ----

namespace {

constexpr int kMaxWords = kBlock * 8 / 32;  // of a block of a row

// to[i] has the word i of each of 16 rows, of which `rows` exist.
MLX_AMX void read_words(const uint32_t* from, int64_t step, int rows, int words,
                        __m512i (&to)[kMaxWords]) {
  for (int word = 0; word < words; word += 16) {
    const __mmask16 lanes = first_lanes(words - word);
    __m512i v[16];
    for (int i = 0; i < 16; ++i) {
      v[i] = i < rows ? _mm512_maskz_loadu_epi32(lanes, from + i * step + word)
                      : _mm512_setzero_si512();
    }
    transpose(v);
    std::copy_n(v, 16, to + word);
  }
}

// A code of each of 16 rows. `words` are those of 32 codes.
template <int bits>
MLX_AMX inline __m512i code_of(const __m512i* words, int code) {
  const int word = code * bits / 32, shift = code * bits % 32;
  __m512i v = _mm512_srli_epi32(words[word], shift);
  if (shift + bits > 32) v = _mm512_or_si512(v, _mm512_slli_epi32(words[word + 1], 32 - shift));
  return _mm512_and_si512(v, _mm512_set1_epi32((1 << bits) - 1));
}

// Each unpacks 32 codes of 16 rows to a tile: its rows have pairs of columns, one for each row of
// w. This one takes the middle of their range off the codes.
template <int bits>
MLX_AMX void unpack_integers(const __m512i* words, const float*, const float*, uint16_t* tile) {
  const __m512i middle = _mm512_set1_epi32(1 << (bits - 1));
  auto number = [&](int code) MLX_AMX {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(code_of<bits>(words, code), middle));
  };
#pragma GCC unroll 16
  for (int pair = 0; pair < kStep / 2; ++pair) {
    _mm512_store_si512(tile + kStep * pair,
                       pairs_of_upper_halves(number(2 * pair), number(2 * pair + 1)));
  }
}

// A table of bfloat16 makes it several times faster for 4 bits.
template <>
MLX_AMX void unpack_integers<4>(const __m512i* words, const float*, const float*, uint16_t* tile) {
  // -8 to 7, twice: the fifth bit of an index may be anything.
  alignas(64) static constexpr uint16_t kTable[32] = {
      0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000,
      0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040,
      0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0};
  const __m512i table = _mm512_load_si512(kTable);
  // The first bits of the codes of a pair: bytes 0 and 2 of the word of each row. Offsets count
  // from the start of two words.
  const __m512i first = _mm512_set1_epi64(0x2424202004040000);
  for (int pair = 0; pair < kStep / 2; ++pair) {
    const __m512i at = _mm512_add_epi8(first, _mm512_set1_epi8(static_cast<char>(pair % 4 * 8)));
    const __m512i codes = _mm512_multishift_epi64_epi8(at, words[pair / 4]);
    _mm512_store_si512(tile + kStep * pair, _mm512_permutexvar_epi16(codes, table));
  }
}

template <int bits>
MLX_AMX inline __m512 float_of_code(const __m512i* words, int code) {
  if constexpr (bits == 4) {
    const __m512 table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    // The instruction looks at the lowest four bits only.
    return _mm512_permutexvar_ps(_mm512_srli_epi32(words[code / 8], code % 8 * 4), table);
  } else {
    return _mm512_cvtepi32_ps(code_of<bits>(words, code));
  }
}

// This one dequantises them.
template <int bits>
MLX_AMX void unpack_floats(const __m512i* words, const float* scales, const float* biases,
                           uint16_t* tile) {
  alignas(64) static constexpr uint16_t kInPairs[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                        21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                        11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512 scale = _mm512_load_ps(scales), bias = _mm512_load_ps(biases);
#pragma GCC unroll 16
  for (int pair = 0; pair < kStep / 2; ++pair) {
    const __m512 low = _mm512_fmadd_ps(float_of_code<bits>(words, 2 * pair), scale, bias);
    const __m512 high = _mm512_fmadd_ps(float_of_code<bits>(words, 2 * pair + 1), scale, bias);
    const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
    _mm512_store_si512(tile + kStep * pair,
                       _mm512_permutexvar_epi16(_mm512_load_si512(kInPairs), both));
  }
}

using UnpackStep = void (*)(const __m512i*, const float*, const float*, uint16_t*);

template <bool integers, int bits = 1>
UnpackStep unpack_step(int wanted) {
  if constexpr (bits < 8) {
    if (wanted != bits) return unpack_step<integers, bits + 1>(wanted);
  }
  return integers ? unpack_integers<bits> : unpack_floats<bits>;
}

// The scales of a square's rows, and their biases; for integers, bias + middle * scale.
template <typename T>
MLX_AMX void read_scales(const QuantizedMatrix& w, int row, int rows, int column, int groups,
                         float* scales, float* offsets) {
  const int64_t step = w.columns / w.group_size;
  const __mmask16 lanes = first_lanes(groups);
  const __m512 middle = _mm512_set1_ps(kMultipliesIntegers<T> ? 1 << (w.bits - 1) : 0);
  for (int i = 0; i < kSquare; ++i) {
    alignas(64) float scale[kLanes16] = {}, offset[kLanes16] = {};
    if (i < rows) {
      const int64_t at = (row + i) * step + column / w.group_size;
      const __m512 s = load_floats(static_cast<const T*>(w.scales) + at, lanes);
      const __m512 b = load_floats(static_cast<const T*>(w.biases) + at, lanes);
      _mm512_store_ps(scale, s);
      _mm512_store_ps(offset, _mm512_fmadd_ps(s, middle, b));
    }
    for (int g = 0; g < groups; ++g) {
      scales[g * kSquare + i] = scale[g];
      offsets[g * kSquare + i] = offset[g];
    }
  }
}

}  // namespace

UnpackedRows::UnpackedRows(void* memory, int rows)
    : tiles(static_cast<uint16_t*>(memory)),
      scales(reinterpret_cast<float*>(tiles + int64_t{in_squares(rows)} * kBlock)),
      offsets(scales + int64_t{in_squares(rows)} * kMaxGroups) {}

size_t UnpackedRows::bytes(int rows) {
  return in_squares(rows) * (sizeof(uint16_t) * kBlock + 2 * sizeof(float) * kMaxGroups);
}

template <typename T>
MLX_AMX void unpack_rows(const QuantizedMatrix& w, int row, int rows, int column,
                         const UnpackedRows& to) {
  const int width = std::min(kBlock, w.columns - column), groups = width / w.group_size;
  const int64_t step = int64_t{w.columns} * w.bits / 32;
  const UnpackStep unpack = unpack_step<kMultipliesIntegers<T>>(w.bits);
  for (int square = 0; square < rows; square += kSquare) {
    uint16_t* tiles = to.tiles_at(square);
    float *scales = to.scales_at(square), *offsets = to.offsets_at(square);
    read_scales<T>(w, row + square, std::min(rows - square, kSquare), column, groups, scales,
                   offsets);
    for (int half = 0; half < kSquare; half += kTileRows, tiles += kTileShorts) {
      __m512i words[kMaxWords];
      read_words(w.words + (row + square + half) * step + int64_t{column} * w.bits / 32, step,
                 std::clamp(rows - square - half, 0, kTileRows), width * w.bits / 32, words);
      for (int i = 0; i < width / kStep; ++i) {
        const int64_t at = i * kStep / w.group_size * kSquare + half;
        unpack(words + int64_t{i} * w.bits, scales + at, offsets + at, tiles + kPairShorts * i);
      }
    }
  }
}

// ---- products ----

namespace {

// Distance between the products of two groups. With a multiple of 4096 bytes, loads of one group
// would wait for the stores of another: processors compare only the last 12 bits at first.
constexpr std::ptrdiff_t kSquareFloats = 4 * kTileFloats + kLanes16;

// Adds the products of some steps to the sums.
template <int pieces>
MLX_AMX inline void multiply_steps(const uint16_t* x, const uint16_t* w, int steps) {
  for (int step = 0; step < steps; ++step, w += kPairShorts) {
    load_right(w);
    for (int piece = 0; piece < pieces; ++piece, x += kPairShorts) {
      load_left(x);
      multiply_loaded();
    }
  }
}

// Adds scale * product + offset * (sum of x) of some groups to a square of sums.
template <int groups>
MLX_AMX inline void add_scaled(const float* products, const float* scales, const float* offsets,
                               const float* x_sums, int64_t x_step, float* sums) {
  for (int half = 0; half < 2; ++half) {
    __m512 s[groups], o[groups];
    for (int g = 0; g < groups; ++g) {
      s[g] = _mm512_load_ps(scales + int64_t{g} * kSquare + half * kLanes16);
      o[g] = _mm512_load_ps(offsets + int64_t{g} * kSquare + half * kLanes16);
    }
    for (int row = 0; row < kSquare; ++row) {
      const auto at = offset_in_square(row, half);
      const float* product = products + at;
      float* to = sums + at;
      __m512 sum = _mm512_load_ps(to);
      for (int g = 0; g < groups; ++g) {
        sum = _mm512_fmadd_ps(_mm512_load_ps(product + g * kSquareFloats), s[g], sum);
        sum = _mm512_fmadd_ps(_mm512_set1_ps(x_sums[row * x_step + g]), o[g], sum);
      }
      _mm512_store_ps(to, sum);
    }
  }
}

// Multiplies integers, and scales the products of each group.
template <int pieces>
MLX_AMX void multiply_integers(const PackedRows& x, int row, const UnpackedRows& w, int w_row,
                               int column, float* sums) {
  const int groups = std::min(kBlock, x.columns - column) / x.group_size;
  const int steps = x.group_size / kStep;
  const uint16_t *a = x.tiles_at(row, column), *b = w.tiles_at(w_row);
  const float *scales = w.scales_at(w_row), *offsets = w.offsets_at(w_row);
  const float* x_sums = x.sums_at(row, column);
  alignas(64) float products[kMaxGroups * kSquareFloats];
  for (int g = 0; g < groups; ++g) {
    clear_sums();
    multiply_steps<pieces>(a, b, steps);
    store_sums(products + g * kSquareFloats);
    a += kPairShorts * pieces * steps;
    b += kPairShorts * steps;
  }
  auto add = [&]<int n>()
                 MLX_AMX { add_scaled<n>(products, scales, offsets, x_sums, x.groups(), sums); };
  switch (groups) {
    case 2:
      return add.template operator()<2>();
    case 4:
      return add.template operator()<4>();
    case 8:
      return add.template operator()<8>();
    default:
      break;
  }
  for (int g = 0; g < groups; ++g) {
    add_scaled<1>(products + g * kSquareFloats, scales + int64_t{g} * kSquare,
                  offsets + int64_t{g} * kSquare, x_sums + g, x.groups(), sums);
  }
}

// Multiplies what is dequantised.
MLX_AMX void multiply_floats(const PackedRows& x, int row, const UnpackedRows& w, int w_row,
                             int column, float* sums) {
  load_sums(sums);
  multiply_steps<1>(x.tiles_at(row, column), w.tiles_at(w_row),
                    std::min(kBlock, x.columns - column) / kStep);
  store_sums(sums);
}

}  // namespace

MLX_AMX void multiply_square(const PackedRows& x, int row, const UnpackedRows& w, int w_row,
                             int column, float* sums) {
  switch (x.pieces) {
    case 1:
      return multiply_floats(x, row, w, w_row, column, sums);
    case 2:
      return multiply_integers<2>(x, row, w, w_row, column, sums);
    default:
      return multiply_integers<3>(x, row, w, w_row, column, sums);
  }
}

template <typename T>
MLX_AMX void store_square(const float* sums, T* const (&rows)[kSquare], int columns) {
  for (int half = 0; half < 2 && half * kLanes16 < columns; ++half) {
    const __mmask16 lanes = first_lanes(columns - half * kLanes16);
    for (int row = 0; row < kSquare; ++row) {
      if (rows[row] == nullptr) continue;
      store_floats(rows[row] + half * kLanes16, _mm512_load_ps(sums + offset_in_square(row, half)),
                   lanes);
    }
  }
}

#define INSTANTIATE(T)                                                                         \
  template MLX_AMX void pack_rows<T>(const T* const(&)[kSquare], int, int, const PackedRows&); \
  template MLX_AMX void unpack_rows<T>(const QuantizedMatrix&, int, int, int,                  \
                                       const UnpackedRows&);                                   \
  template MLX_AMX void store_square<T>(const float*, T* const(&)[kSquare], int);
INSTANTIATE(float)
INSTANTIATE(float16_t)
INSTANTIATE(bfloat16_t)
#undef INSTANTIATE

}  // namespace mlx::core::cpu

#endif
