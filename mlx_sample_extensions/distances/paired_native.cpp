// Distances of listed pairs on the host, 8 coordinates at a time.
#include "distances/paired_native.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "distances/dispatch.h"
#include "mlx/backend/cpu/parallel.h"
#include "native_loops.h"

namespace mlx_sample::native {

namespace {

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr size_t kPairGrain = 4096;
constexpr size_t kRowGrain = 256;

template <typename T>
MLX_SAMPLE_INLINE v8 load(const T* p, size_t count) {
  v8 v = {};
  for (size_t k = 0; k < count; ++k) {
    v[k] = static_cast<float>(p[k]);
  }
  return v;
}

template <typename T>
MLX_SAMPLE_INLINE v8 load(const T* p) {
  if constexpr (std::is_same_v<T, float>) {
    return *reinterpret_cast<const v8*>(p);
  } else {
    return load(p, 8);
  }
}

MLX_SAMPLE_INLINE float total(v8 v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

// Sums over the coordinates of a pair, 8 at a time.
template <Metric M>
struct Sums {
  v8 sum = {};  // of differences, squared or not, or of products
  v8 own = {};  // of squares
  v8 other = {};

  MLX_SAMPLE_INLINE void add(v8 x, v8 y) {
    v8 difference = x - y;
    if (M == Metric::Cosine) {
      sum += x * y;
      own += x * x;
      other += y * y;
    } else if (M == Metric::Manhattan) {
      sum += difference < 0.0f ? -difference : difference;
    } else {
      sum += difference * difference;
    }
  }
  MLX_SAMPLE_INLINE float distance() const {
    float all = total(sum);
    if (M == Metric::Cosine) {
      float lengths = std::sqrt(total(own)) * std::sqrt(total(other));
      return lengths > 0 ? 1 - all / lengths : 1.0f;
    }
    return M == Metric::Euclidean ? std::sqrt(all) : all;
  }
};

template <Metric M, typename T>
MLX_SAMPLE_NATIVE void distances_in(const PairsOf<T>& pairs, size_t first, size_t last, T* out) {
  size_t whole = pairs.dims / 8 * 8;
  for (size_t t = first; t < last; ++t) {
    const T* x = pairs.a + pairs.i[t] * pairs.dims;
    const T* y = pairs.b + pairs.j[t] * pairs.dims;
    Sums<M> sums;
    for (size_t k = 0; k < whole; k += 8) {
      sums.add(load(x + k), load(y + k));
    }
    for (size_t k = whole; k < pairs.dims; ++k) {
      sums.add(v8{static_cast<float>(x[k])}, v8{static_cast<float>(y[k])});
    }
    out[t] = static_cast<T>(sums.distance());
  }
}

// What the gradient by x takes of a pair: a multiple of the difference or of its signs, or
// multiples of both points.
template <Metric M>
struct Pull {
  float own;
  float other;

  MLX_SAMPLE_INLINE Pull(float d, float g, float length, float other_length) : own(g), other(-g) {
    if (M == Metric::Cosine) {
      float both = length * other_length;
      own = both > 0 ? g * (1 - d) / (length * length) : 0.0f;
      other = both > 0 ? -g / both : 0.0f;
    } else if (M != Metric::Manhattan) {
      own = M == Metric::SquaredEuclidean ? 2 * g : d > 0 ? g / d : 0.0f;
    }
  }
  MLX_SAMPLE_INLINE v8 at(v8 x, v8 y) const {
    v8 difference = x - y;
    if (M == Metric::Cosine) {
      return own * x + other * y;
    }
    if (M == Metric::Manhattan) {
      v8 none = {};
      return difference > 0.0f ? none + own : difference < 0.0f ? none - own : none;
    }
    return own * difference;
  }
};

template <Metric M, typename T>
MLX_SAMPLE_NATIVE void gradient_in(const PairsOf<T>& pairs, const PairsByRow& rows, const T* g,
                                   const T* d, size_t first, size_t last, T* out) {
  for (size_t row = first; row < last; ++row) {
    float length = M == Metric::Cosine ? rows.lengths[row] : 0;
    for (size_t base = 0; base < pairs.dims; base += 8) {
      size_t count = std::min<size_t>(8, pairs.dims - base);
      const T* at = pairs.a + row * pairs.dims + base;
      v8 x = count == 8 ? load(at) : load(at, count);
      v8 sum = {};
      for (int32_t place = rows.offsets[row]; place < rows.offsets[row + 1]; ++place) {
        int32_t pair = rows.order[place];
        int32_t other = pairs.j[pair];
        Pull<M> pull(static_cast<float>(d[pair]), static_cast<float>(g[pair]), length,
                     M == Metric::Cosine ? rows.other_lengths[other] : 0);
        const T* y = pairs.b + other * pairs.dims + base;
        sum += pull.at(x, count == 8 ? load(y) : load(y, count));
      }
      for (size_t k = 0; k < count; ++k) {
        out[row * pairs.dims + base + k] = static_cast<T>(sum[k]);
      }
    }
  }
}

}  // namespace

template <typename T>
void paired_distances(const PairsOf<T>& pairs, size_t count, Metric metric, T* out) {
  with_metric(metric, [&]<Metric M>() {
    mx::cpu::parallel_for(count, kPairGrain, [&](size_t first, size_t last) {
      distances_in<M>(pairs, first, last, out);
    });
  });
}

template <typename T>
void paired_gradient(const PairsOf<T>& pairs, const PairsByRow& rows, const T* g, const T* d,
                     Metric metric, T* out) {
  with_metric(metric, [&]<Metric M>() {
    mx::cpu::parallel_for(rows.rows, kRowGrain, [&](size_t first, size_t last) {
      gradient_in<M>(pairs, rows, g, d, first, last, out);
    });
  });
}

#define MLX_SAMPLE_INSTANTIATE(T)                                                            \
  template void paired_distances<T>(const PairsOf<T>&, size_t, Metric, T*);                  \
  template void paired_gradient<T>(const PairsOf<T>&, const PairsByRow&, const T*, const T*, \
                                   Metric, T*);
MLX_SAMPLE_INSTANTIATE(float)
MLX_SAMPLE_INSTANTIATE(mx::float16_t)
MLX_SAMPLE_INSTANTIATE(mx::bfloat16_t)
#undef MLX_SAMPLE_INSTANTIATE

}  // namespace mlx_sample::native
