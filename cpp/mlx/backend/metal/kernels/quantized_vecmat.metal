// Products of vectors and a quantised matrix that is not transposed. A thread has a column of packs
// and a few vectors, so that neighbouring threads read neighbouring words. It adds up a part of
// the matrix's rows; a second kernel adds up the parts. Errors are relative to the largest numbers
// of groups.
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/quantized.h"
#include "mlx/backend/metal/kernels/quantized_params.h"

// Processors do not prefetch rows that are far apart by themselves.
constant constexpr uint kRowsAhead = 32;
// Sums that a thread keeps at a time: with two vectors for each, most are in registers.
constant constexpr uint kSumsAtOnce = 16;

// A column of packs in some rows of a matrix, and the vectors that it is multiplied by.
template <typename Number, typename Scale, typename T, uint vectors>
struct Column {
  using Pack = Packing<Number::kBits>;
  static constexpr constant uint kAtOnce =
      Pack::kNumbers < kSumsAtOnce / vectors ? Pack::kNumbers : kSumsAtOnce / vectors;
  // A single vector is scaled instead of the matrix, which takes fewer operations.
  static constexpr constant bool kScalesVector = vectors == 1;

  const device uint* w;
  const device typename Scale::type* scales;
  const device T* biases;
  const device T* x[vectors];
  uint64_t words, groups;  // of a row
  uint rows;

  // Adds the products with the pack's elements from `first` on to sums.
  void add_up(uint first, thread float (&sums)[vectors][kAtOnce]) const {
    float sum_of_biases = 0.0f;
    for (uint row = 0; row < rows; ++row) {
      const device uint* from = w + row * words;
      if (first == 0) {
        prefetch(from + kRowsAhead * words);
      }
      uint codes[Pack::kWords];
#pragma unroll
      for (uint i = 0; i < Pack::kWords; ++i) {
        codes[i] = from[i];
      }
      float scale = Scale::value(scales[row * groups]) * Raised<Number>::kOne;
      float bias = Number::kBiased ? static_cast<float>(biases[row * groups]) - scale : 0.0f;
      float factors[vectors];
#pragma unroll
      for (uint v = 0; v < vectors; ++v) {
        factors[v] = static_cast<float>(x[v][row]);
      }
      if (kScalesVector) {
        if (Number::kBiased) {
          sum_of_biases = fma(factors[0], bias, sum_of_biases);
        }
        factors[0] *= scale;
      }
#pragma unroll
      for (uint i = 0; i < kAtOnce; ++i) {
        float number = Raised<Number>::decode(Pack::code(codes, first + i, Raised<Number>::kUp));
        number = kScalesVector ? number : fma(number, scale, bias);
#pragma unroll
        for (uint v = 0; v < vectors; ++v) {
          sums[v][i] = fma(factors[v], number, sums[v][i]);
        }
      }
    }
#pragma unroll
    for (uint i = 0; i < kAtOnce; ++i) {
      sums[0][i] += sum_of_biases;
    }
  }
};

template <typename Number, typename Scale, typename T, uint group_size, uint vectors>
[[kernel]] void quantized_vecmat(
    const device uint* w [[buffer(0)]], const device typename Scale::type* scales [[buffer(1)]],
    const device T* biases [[buffer(2)]], const device T* x [[buffer(3)]],
    device float* out [[buffer(4)]], const device int* lhs [[buffer(5)]],
    const device int* rhs [[buffer(6)]], constant const VecmatParams& p [[buffer(7)]],
    uint3 pos [[thread_position_in_grid]]) {
  using Part = Column<Number, Scale, T, vectors>;
  using Pack = typename Part::Pack;
  uint packs = p.columns / Pack::kNumbers;
  uint pair = pos.z / p.parts;
  uint row = pos.z % p.parts * p.rows_of_part;
  uint batch_x = p.gathered ? listed(lhs, pair, p.batches_x) : pair;
  uint batch_w = p.gathered ? listed(rhs, pair, p.batches_w) : 0;

  Part part;
  int64_t row_w = static_cast<int64_t>(batch_w) * p.rows + row;
  uint group = pos.x / (group_size / Pack::kNumbers);
  part.words = packs * Pack::kWords;
  part.groups = p.columns / group_size;
  part.rows = min(p.rows_of_part, p.rows - row);
  part.w = w + row_w * part.words + pos.x * Pack::kWords;
  part.scales = scales + row_w * part.groups + group;
  part.biases = biases + (Number::kBiased ? row_w * part.groups + group : 0);
#pragma unroll
  for (uint v = 0; v < vectors; ++v) {
    // Beyond the last vector, it is computed once more.
    uint vector = min(pos.y * vectors + v, p.vectors - 1);
    part.x[v] = x + (static_cast<int64_t>(batch_x) * p.vectors + vector) * p.rows + row;
  }
  out += static_cast<int64_t>(pos.z) * p.vectors * p.columns + pos.x;
#pragma unroll
  for (uint first = 0; first < Pack::kNumbers; first += Part::kAtOnce) {
    float sums[vectors][Part::kAtOnce] = {};
    part.add_up(first, sums);
#pragma unroll
    for (uint v = 0; v < vectors; ++v) {
      uint vector = pos.y * vectors + v;
      if (vector < p.vectors) {
#pragma unroll
        for (uint i = 0; i < Part::kAtOnce; ++i) {
          out[static_cast<uint64_t>(vector) * p.columns + (first + i) * packs] = sums[v][i];
        }
      }
    }
  }
}

// Adds up the parts. Their rows have element 0 of all packs, then element 1 of all packs.
template <typename T>
[[kernel]] void sum_parts(const device float* in [[buffer(0)]], device T* out [[buffer(1)]],
                          constant const VecmatParams& p [[buffer(2)]],
                          constant const uint& numbers [[buffer(3)]],
                          uint3 pos [[thread_position_in_grid]]) {
  int64_t row = static_cast<int64_t>(pos.z) * p.parts * p.vectors + pos.y;
  in += row * p.columns + pos.x % numbers * (p.columns / numbers) + pos.x / numbers;
  float sum = 0.0f;
  for (uint part = 0; part < p.parts; ++part) {
    sum += in[static_cast<int64_t>(part) * p.vectors * p.columns];
  }
  out[(static_cast<int64_t>(pos.z) * p.vectors + pos.y) * p.columns + pos.x] = convert<T>(sum);
}

#define VECMAT(mode, Number, Scale, T, group, name)              \
  MLX_KERNEL("QuantizedVecmat_" #mode "_" #group "_" #name "_1", \
             quantized_vecmat<Number, Scale, T, group, 1>)       \
  MLX_KERNEL("QuantizedVecmat_" #mode "_" #group "_" #name "_4", \
             quantized_vecmat<Number, Scale, T, group, 4>)
#define AFFINE(bits, name, T)                                     \
  VECMAT(affine##bits, Integer<bits>, FloatScale<T>, T, 32, name) \
  VECMAT(affine##bits, Integer<bits>, FloatScale<T>, T, 64, name) \
  VECMAT(affine##bits, Integer<bits>, FloatScale<T>, T, 128, name)
MLX_FOR_FLOATS(AFFINE, 1)
MLX_FOR_FLOATS(AFFINE, 2)
MLX_FOR_FLOATS(AFFINE, 3)
MLX_FOR_FLOATS(AFFINE, 4)
MLX_FOR_FLOATS(AFFINE, 5)
MLX_FOR_FLOATS(AFFINE, 6)
MLX_FOR_FLOATS(AFFINE, 8)

#define FLOAT_MODES(Op, name, T)         \
  VECMAT(mxfp4, E2M1, E8M0, T, 32, name) \
  VECMAT(mxfp8, E4M3, E8M0, T, 32, name) \
  VECMAT(nvfp4, E2M1, E4M3, T, 16, name)
MLX_FOR_FLOATS(FLOAT_MODES, )

#define SUM_PARTS(Op, name, T) MLX_KERNEL("SumParts_" #name, sum_parts<T>)
MLX_FOR_FLOATS(SUM_PARTS, )
