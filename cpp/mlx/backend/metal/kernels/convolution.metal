// Convolutions by products of matrices: `unfold` copies what weights meet, and `fold` adds up what
// products have given. `convolve` computes those of few channels in a group. Arrays are (N,
// spatial..., channels), of `groups` times the channels of a group.
#include "mlx/backend/metal/kernels/convolution_params.h"
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

// Where the weight's element meets the source along an axis, for a place of the result; negative if
// there is nothing.
inline int met(constant const ConvolutionAxisParams& axis, int place, int element) {
  const int at = place * axis.step + element * axis.weight_step + axis.first;
  const int whole = axis.divisor == 1 ? at : at / axis.divisor;
  return at >= 0 && whole < axis.source && whole * axis.divisor == at ? whole : -1;
}

// A pixel of the result: the image's first pixel in the source, and its place.
struct ResultPixel {
  ulong image;
  int place[kSpatialAxes];

  ResultPixel(uint row, constant const ConvolutionParams& p) {
    for (int i = kSpatialAxes - 1; i >= 0; --i) {
      const uint extent = p.axes[i].result;
      place[i] = 0;
      if (extent == 1) continue;
      place[i] = row % extent;
      row /= extent;
    }
    image = row;
    for (int i = 0; i < kSpatialAxes; ++i) image *= p.axes[i].source;
  }

  static bool is_pixel(int x, int y, int z) { return (x | y | z) >= 0; }
  int64_t pixel(int x, int y, int z, constant const ConvolutionParams& p) const {
    return image + (int64_t(x) * p.axes[1].source + y) * p.axes[2].source + z;
  }

  // The source's pixel at the weight's element k; negative if there is none.
  int64_t source(uint k, constant const ConvolutionParams& p) const {
    int at[kSpatialAxes];
    for (int i = kSpatialAxes - 1; i >= 0; --i) {
      const uint extent = p.axes[i].weight;
      const uint element = extent == 1 ? 0 : i == 0 ? k : k % extent;
      if (extent > 1) k /= extent;
      at[i] = met(p.axes[i], place[i], element);
    }
    return is_pixel(at[0], at[1], at[2]) ? pixel(at[0], at[1], at[2], p) : -1;
  }

  // Calls visit(k, pixel) for each element k of the weight that meets a pixel of the source.
  template <typename Visit>
  void for_each_source(constant const ConvolutionParams& p, Visit visit) const {
    uint k = 0;
    for (int a = 0; a < p.axes[0].weight; ++a) {
      const int x = met(p.axes[0], place[0], a);
      for (int b = 0; b < p.axes[1].weight; ++b) {
        const int y = met(p.axes[1], place[1], b);
        for (int c = 0; c < p.axes[2].weight; ++c, ++k) {
          const int z = met(p.axes[2], place[2], c);
          if (is_pixel(x, y, z)) visit(k, pixel(x, y, z, p));
        }
      }
    }
  }
};

// out: (groups, pixels of the result, elements of the weight, sources). T may be several channels.
template <typename T>
[[kernel]] void unfold(const device T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       constant const ConvolutionParams& p [[buffer(2)]],
                       uint3 place [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  const uint channel = place.x % p.sources;
  const int64_t pixel = ResultPixel(place.y, p).source(place.x / p.sources, p);
  const T none = T(0);
  out[(ulong(place.z) * grid.y + place.y) * grid.x + place.x] =
      pixel < 0 ? none : in[(pixel * p.groups + place.z) * p.sources + channel];
}

// The sum of what the source's pixels, which are in rows of `in`, give each element of the result.
// in: (groups, pixels of the source, elements of the weight, results).
template <typename T>
[[kernel]] void fold(const device float* in [[buffer(0)]], device T* out [[buffer(1)]],
                     constant const ConvolutionParams& p [[buffer(2)]],
                     constant const uint& pixels [[buffer(3)]],
                     uint2 place [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  const uint group = place.x / p.results, channel = place.x % p.results;
  float sum = 0.0f;
  ResultPixel(place.y, p).for_each_source(p, [&](uint k, int64_t source) {
    sum += in[((ulong(group) * pixels + source) * p.elements + k) * p.results + channel];
  });
  out[ulong(place.y) * grid.x + place.x] = static_cast<T>(sum);
}

// A thread computes one element of the result.
template <typename T>
[[kernel]] void convolve(const device T* in [[buffer(0)]], const device T* weight [[buffer(1)]],
                         device T* out [[buffer(2)]],
                         constant const ConvolutionParams& p [[buffer(3)]],
                         uint2 place [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  const uint group = place.x / p.results, channel = place.x % p.results;
  weight += group * p.group_step + channel * p.result_step;
  in += group * p.sources;
  float sum = 0.0f;
  ResultPixel(place.y, p).for_each_source(p, [&](uint k, int64_t source) {
    const device T* from = in + source * p.groups * p.sources;
    const device T* factors = weight + k * p.element_step;
    for (uint c = 0; c < p.sources; ++c)
      sum = fma(static_cast<float>(from[c]), static_cast<float>(factors[c * p.source_step]), sum);
  });
  out[ulong(place.y) * grid.x + place.x] = static_cast<T>(sum);
}

// The same where each group has one channel of either side: a thread computes kDepthwise
// neighbouring channels. in, weight (elements, channels) and out are aligned to so many.
template <typename T>
[[kernel]] void convolve_depthwise(const device vec<T, kDepthwise>* in [[buffer(0)]],
                                   const device vec<T, kDepthwise>* weight [[buffer(1)]],
                                   device vec<T, kDepthwise>* out [[buffer(2)]],
                                   constant const ConvolutionParams& p [[buffer(3)]],
                                   uint2 place [[thread_position_in_grid]],
                                   uint2 grid [[threads_per_grid]]) {
  using Sum = vec<float, kDepthwise>;
  Sum sum = 0.0f;
  ResultPixel(place.y, p).for_each_source(p, [&](uint k, int64_t source) {
    sum = fma(Sum(in[source * grid.x + place.x]), Sum(weight[k * grid.x + place.x]), sum);
  });
  out[ulong(place.y) * grid.x + place.x] = vec<T, kDepthwise>(sum);
}

#define CONVOLUTION(_, name, T)              \
  MLX_KERNEL("Fold_" #name, fold<T>)         \
  MLX_KERNEL("Convolve_" #name, convolve<T>) \
  MLX_KERNEL("Depthwise_" #name, convolve_depthwise<T>)
MLX_FOR_FLOATS(CONVOLUTION, )
MLX_KERNEL("Unfold_2", unfold<ushort>)
MLX_KERNEL("Unfold_4", unfold<uint>)
MLX_KERNEL("Unfold_16", unfold<uint4>)
