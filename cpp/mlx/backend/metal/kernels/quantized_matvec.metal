// Products of a quantised matrix and vectors. A SIMD-group computes a row and a few vectors. A lane
// has a pack of elements, so that neighbouring lanes read neighbouring words. A block is 32 packs.
#include "mlx/backend/metal/kernels/indexing.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/quantized.h"
#include "mlx/backend/metal/kernels/quantized_params.h"

// Reorders the vectors for the product: in each block, element 0 of all packs, then element 1 of
// all packs. `sums` are the sums of groups. Rows beyond `vectors` are zeros.
template <typename T, uint numbers>
[[kernel]] void arrange_vectors(const device T* x [[buffer(0)]], device float* out [[buffer(1)]],
                                device float* sums [[buffer(2)]],
                                constant const MatvecParams& p [[buffer(3)]],
                                constant const uint& group_size [[buffer(4)]],
                                uint3 pos [[thread_position_in_grid]],
                                uint3 grid [[threads_per_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
  uint groups = p.columns / group_size;
  uint packs_of_group = group_size / numbers;
  x += static_cast<int64_t>(pos.z * p.vectors + pos.y) * p.columns;
  int64_t row = pos.z * p.padded_vectors + pos.y;
  out += (row * (grid.x / kLanes) + pos.x / kLanes) * numbers * kLanes + lane;
  sums += row * groups;
  bool inside = pos.x * numbers < p.columns && pos.y < p.vectors;
  float sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < numbers; ++i) {
    float value = inside ? static_cast<float>(x[pos.x * numbers + i]) : 0.0f;
    out[i * kLanes] = value;
    sum += value;
  }
  for (ushort distance = 1; distance < packs_of_group; distance *= 2) {
    sum += from_lane(sum, distance);
  }
  if (pos.x % packs_of_group == 0 && pos.x / packs_of_group < groups) {
    sums[pos.x / packs_of_group] = sum;
  }
}

// A page: processors stop prefetching by themselves where one ends.
constant constexpr uint kWordsAhead = 1024;

template <typename Number, typename Scale, typename T, uint group_size, uint vectors>
[[kernel]] void quantized_matvec(
    const device uint* w [[buffer(0)]], const device typename Scale::type* scales [[buffer(1)]],
    const device T* biases [[buffer(2)]], const device float* x [[buffer(3)]],
    const device float* sums [[buffer(4)]], device T* out [[buffer(5)]],
    const device int* lhs [[buffer(6)]], const device int* rhs [[buffer(7)]],
    constant const MatvecParams& p [[buffer(8)]], uint3 pos [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  using Pack = Packing<Number::kBits>;
  constexpr uint packs_of_group = group_size / Pack::kNumbers;
  // The number of blocks for which the lanes hold scales.
  constexpr uint step = packs_of_group;
  constexpr uint block_size = kLanes * Pack::kNumbers;
  uint packs = p.columns / Pack::kNumbers;
  uint blocks = (packs + kLanes - 1) / kLanes;
  uint groups = p.columns / group_size;
  uint row = pos.x / kLanes;
  uint vector = pos.y * vectors;
  uint batch_x = p.gathered ? listed(lhs, pos.z, p.batches_x) : pos.z;
  uint batch_w = p.gathered ? listed(rhs, pos.z, p.batches_w) : 0;

  int64_t row_w = static_cast<int64_t>(batch_w) * p.rows + row;
  w += row_w * packs * Pack::kWords;
  scales += row_w * groups;
  biases += Number::kBiased ? row_w * groups : 0;
  int64_t row_x = static_cast<int64_t>(batch_x) * p.padded_vectors + vector;
  x += row_x * blocks * block_size;
  sums += row_x * groups;

  float totals[vectors] = {};
  for (uint first = 0; first < blocks; first += step) {
    uint group = first / step * kLanes + lane;
    float scale = 0.0f;
    if (group < groups) {
      scale = Scale::value(scales[group]) * Raised<Number>::kOne;
      if (Number::kBiased) {
        float bias = static_cast<float>(biases[group]) - scale;
        for (uint v = 0; v < vectors; ++v) {
          totals[v] = fma(bias, sums[v * groups + group], totals[v]);
        }
      }
    }
#pragma unroll
    for (uint j = 0; j < step; ++j) {
      if (first + j < blocks) {
        uint pack = (first + j) * kLanes + lane;
        uint words[Pack::kWords] = {};
        if (pack < packs) {
          prefetch(w + pack * Pack::kWords + kWordsAhead);
#pragma unroll
          for (uint i = 0; i < Pack::kWords; ++i) {
            words[i] = w[pack * Pack::kWords + i];
          }
        }
        const device float* block = x + (first + j) * block_size + lane;
        float parts[vectors] = {};
#pragma unroll
        for (uint i = 0; i < Pack::kNumbers; ++i) {
          float number =
              Raised<Number>::decode(Pack::code(words, i, Raised<Number>::kUp));
#pragma unroll
          for (uint v = 0; v < vectors; ++v) {
            parts[v] = fma(number, block[v * blocks * block_size + i * kLanes], parts[v]);
          }
        }
        // A shuffle by constants, since the loop over `step` is unrolled.
        float its = simd_shuffle(
            scale, static_cast<ushort>(j * (kLanes / packs_of_group) + lane / packs_of_group));
#pragma unroll
        for (uint v = 0; v < vectors; ++v) {
          totals[v] = fma(parts[v], its, totals[v]);
        }
      }
    }
  }
#pragma unroll
  for (uint v = 0; v < vectors; ++v) {
    float total = simd_sum(totals[v]);
    if (lane == 0 && vector + v < p.vectors) {
      out[(static_cast<int64_t>(pos.z) * p.vectors + vector + v) * p.rows + row] =
          convert<T>(total);
    }
  }
}

#define MATVEC(mode, Number, Scale, T, group, name)          \
  MLX_KERNEL("QuantizedMatvec_" #mode "_" #group "_" #name "_1",  \
             quantized_matvec<Number, Scale, T, group, 1>)   \
  MLX_KERNEL("QuantizedMatvec_" #mode "_" #group "_" #name "_4",  \
             quantized_matvec<Number, Scale, T, group, 4>)
#define AFFINE(bits, name, T)                                            \
  MATVEC(affine##bits, Integer<bits>, FloatScale<T>, T, 32, name) \
  MATVEC(affine##bits, Integer<bits>, FloatScale<T>, T, 64, name) \
  MATVEC(affine##bits, Integer<bits>, FloatScale<T>, T, 128, name)
MLX_FOR_FLOATS(AFFINE, 1)
MLX_FOR_FLOATS(AFFINE, 2)
MLX_FOR_FLOATS(AFFINE, 3)
MLX_FOR_FLOATS(AFFINE, 4)
MLX_FOR_FLOATS(AFFINE, 5)
MLX_FOR_FLOATS(AFFINE, 6)
MLX_FOR_FLOATS(AFFINE, 8)

#define FLOAT_MODES(Op, name, T)             \
  MATVEC(mxfp4, E2M1, E8M0, T, 32, name) \
  MATVEC(mxfp8, E4M3, E8M0, T, 32, name) \
  MATVEC(nvfp4, E2M1, E4M3, T, 16, name)
MLX_FOR_FLOATS(FLOAT_MODES, )

#define ARRANGE(numbers, name, T) \
  MLX_KERNEL("ArrangeVectors_" #numbers "_" #name, arrange_vectors<T, numbers>)
MLX_FOR_FLOATS(ARRANGE, 4)
MLX_FOR_FLOATS(ARRANGE, 8)
MLX_FOR_FLOATS(ARRANGE, 16)
MLX_FOR_FLOATS(ARRANGE, 32)
