// Distances and their gradients in registers: tiles of 4 points of a and 16 of b at a time. No
// array has a place for every pair and coordinate.
#include "distances/native.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "distances/dispatch.h"
#include "mlx/backend/cpu/parallel.h"
#include "native_loops.h"

namespace mlx_sample::native {

namespace {

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr size_t kRows = 4;            // of a tile
constexpr size_t kPanel = 16;          // columns of a tile
constexpr size_t kBlock = 32;          // rows that a core takes at a time
constexpr size_t kCached = 32 * 1024;  // floats of b that stay in a core's cache

MLX_SAMPLE_INLINE v8 load(const float* p) { return *reinterpret_cast<const v8*>(p); }
MLX_SAMPLE_INLINE void store(float* p, v8 v) { *reinterpret_cast<v8*>(p) = v; }

// ---- distances ----

template <Metric M>
MLX_SAMPLE_INLINE void add_term(v8& sum, v8 difference) {
  if (M == Metric::Manhattan) {
    sum += difference < 0.0f ? -difference : difference;
  } else {
    sum += difference * difference;
  }
}

template <typename T>
MLX_SAMPLE_INLINE void store_row(const float* values, T* out, size_t columns, bool streaming) {
  if (columns < kPanel) {
    for (size_t c = 0; c < columns; ++c) {
      out[c] = static_cast<T>(values[c]);
    }
    return;
  }
#if defined(__SSE2__)
  if (std::is_same_v<T, float> && streaming) {
    for (size_t c = 0; c < kPanel; c += 4) {
      _mm_stream_ps(reinterpret_cast<float*>(out + c), _mm_loadu_ps(values + c));
    }
    return;
  }
#endif
  for (size_t c = 0; c < kPanel; ++c) {
    out[c] = static_cast<T>(values[c]);
  }
}

// Distances of up to four points of a to those in panels of b: 16 of them side by side, coordinate
// by coordinate.
template <Metric M, typename T>
MLX_SAMPLE_NATIVE void strip(const float* a, size_t rows, const float* panels, size_t columns,
                             size_t dims, T* out, size_t stride, bool streaming) {
  const float* point[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    point[r] = a + std::min(r, rows - 1) * dims;
  }
  for (size_t first = 0; first < columns; first += kPanel, panels += kPanel * dims) {
    v8 sum[kRows][2] = {};
    for (size_t k = 0; k < dims; ++k) {
      v8 low = load(panels + k * kPanel);
      v8 high = load(panels + k * kPanel + 8);
#pragma GCC unroll 4
      for (size_t r = 0; r < kRows; ++r) {
        add_term<M>(sum[r][0], point[r][k] - low);
        add_term<M>(sum[r][1], point[r][k] - high);
      }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      float values[kPanel];
      store(values, sum[r][0]);
      store(values + 8, sum[r][1]);
      if (M == Metric::Euclidean) {
        for (size_t c = 0; c < kPanel; ++c) {
          values[c] = std::sqrt(values[c]);
        }
      }
      if (r < rows) {
        store_row(values, out + r * stride + first, std::min(kPanel, columns - first), streaming);
      }
    }
  }
}

// Points (count, dims) as panels of 16, the last filled up with zeros.
std::vector<float> to_panels(const float* points, size_t count, size_t dims) {
  size_t panels = (count + kPanel - 1) / kPanel;
  std::vector<float> result(panels * kPanel * dims, 0.0f);
  mx::cpu::parallel_for(panels, 64, [&](size_t first, size_t last) {
    for (size_t j = first * kPanel; j < std::min(count, last * kPanel); ++j) {
      float* to = result.data() + j / kPanel * kPanel * dims + j % kPanel;
      for (size_t k = 0; k < dims; ++k) {
        to[k * kPanel] = points[j * dims + k];
      }
    }
  });
  return result;
}

template <Metric M, typename T>
void distances_of_batch(const float* a, const float* b, const PairSizes& s, T* out) {
  auto panels = to_panels(b, s.columns, s.dims);
  size_t chunk = std::max<size_t>(kCached / std::max<size_t>(s.dims, 1) / kPanel, 1) * kPanel;
  bool streaming = s.rows * s.columns * sizeof(T) >= kBeyondCaches && s.columns % 4 == 0 &&
                   reinterpret_cast<size_t>(out) % 16 == 0;
  size_t blocks = (s.rows + kBlock - 1) / kBlock;
  mx::cpu::parallel_for(blocks, 1, [&](size_t first_block, size_t last_block) {
    size_t last_row = std::min(s.rows, last_block * kBlock);
    for (size_t top = first_block * kBlock; top < last_row; top += kBlock) {
      for (size_t left = 0; left < s.columns; left += chunk) {
        for (size_t r = top; r < std::min(last_row, top + kBlock); r += kRows) {
          strip<M>(a + r * s.dims, std::min(kRows, last_row - r), panels.data() + left * s.dims,
                   std::min(chunk, s.columns - left), s.dims, out + r * s.columns + left, s.columns,
                   streaming);
        }
      }
    }
    finish_streaming();
  });
}

// ---- gradients ----

// The factor of a pair's difference, or of its signs.
template <Metric M>
MLX_SAMPLE_INLINE v8 weight(v8 d, v8 g) {
  if (M == Metric::Manhattan) return g;
  if (M == Metric::SquaredEuclidean) return 2.0f * g;
  return d > 0.0f ? g / (d > 0.0f ? d : d + 1.0f) : d * 0.0f;
}

template <Metric M>
MLX_SAMPLE_INLINE v8 pull(v8 w, v8 difference) {
  if (M != Metric::Manhattan) return w * difference;
  v8 none = {};
  return difference > 0.0f ? w : difference < 0.0f ? -w : none;
}

// One point of a in D dimensions, and all of b, whose coordinates follow each other: b[k * stride +
// j]. Columns are a multiple of 8. gb: null or laid out as b.
template <Metric M, int D>
MLX_SAMPLE_NATIVE void pull_narrow(const float* a, const float* b, size_t stride, size_t columns,
                                   const float* d, const float* g, float* ga, float* gb) {
  v8 sum[D] = {};
  for (size_t j = 0; j < columns; j += 8) {
    v8 w = weight<M>(load(d + j), load(g + j));
#pragma GCC unroll 4
    for (int k = 0; k < D; ++k) {
      v8 t = pull<M>(w, a[k] - load(b + k * stride + j));
      sum[k] += t;
      if (gb) {
        store(gb + k * stride + j, load(gb + k * stride + j) - t);
      }
    }
  }
  for (int k = 0; k < D; ++k) {
    for (int lane = 0; lane < 8; ++lane) {
      ga[k] += sum[k][lane];
    }
  }
}

// Four points of a, and a stretch of b, both with `dims` coordinates, a multiple of 8, side by
// side. weights: four for each point of b.
template <Metric M>
MLX_SAMPLE_NATIVE void pull_wide(const float* a, const float* b, const float* weights,
                                 size_t columns, size_t dims, float* ga, float* gb) {
  for (size_t k = 0; k < dims; k += 8) {
    v8 point[kRows];
    v8 sum[kRows];
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      point[r] = load(a + r * dims + k);
      sum[r] = load(ga + r * dims + k);
    }
    for (size_t j = 0; j < columns; ++j) {
      v8 other = load(b + j * dims + k);
      v8 back = {};
#pragma GCC unroll 4
      for (size_t r = 0; r < kRows; ++r) {
        v8 w = weights[j * kRows + r] - v8{};
        v8 t = pull<M>(w, point[r] - other);
        sum[r] += t;
        back += t;
      }
      if (gb) {
        store(gb + j * dims + k, load(gb + j * dims + k) - back);
      }
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      store(ga + r * dims + k, sum[r]);
    }
  }
}

template <Metric M>
MLX_SAMPLE_NATIVE void fill_weights(const float* d, const float* g, size_t columns, size_t row,
                                    float* weights) {
  size_t j = 0;
  for (; j + 8 <= columns; j += 8) {
    v8 w = weight<M>(load(d + j), load(g + j));
    for (size_t i = 0; i < 8; ++i) {
      weights[(j + i) * kRows + row] = w[i];
    }
  }
  for (; j < columns; ++j) {
    weights[j * kRows + row] = weight<M>(v8{d[j]}, v8{g[j]})[0];
  }
}

// Gradients of one batch. Ranges of a's points have sums of their own for b, which are added up in
// order: so the result does not depend on the number of cores.
class Gradients {
 public:
  Gradients(const float* a, const float* b, const float* d, const float* g, const PairSizes& s)
      : a_(a), b_(b), d_(d), g_(g), s_(s) {}

  template <Metric M>
  void run(float* ga, float* gb) {
    bool narrow = s_.dims <= 4;
    dims_ = narrow ? s_.dims : (s_.dims + 7) / 8 * 8;
    columns_ = (s_.columns + 7) / 8 * 8;
    pack(narrow);
    size_t ranges = gb ? std::clamp<size_t>(s_.rows / 64, 1, kRanges) : (s_.rows + 63) / 64;
    size_t step = ((s_.rows + ranges - 1) / ranges + kRows - 1) / kRows * kRows;
    std::vector<float> sums(gb ? ranges * dims_ * columns_ : 0, 0.0f);
    mx::cpu::parallel_for(ranges, 1, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        float* own = gb ? sums.data() + i * dims_ * columns_ : nullptr;
        size_t begin = std::min(s_.rows, i * step);
        size_t end = std::min(s_.rows, begin + step);
        narrow ? range_narrow<M>(begin, end, ga, own) : range_wide<M>(begin, end, ga, own);
      }
    });
    if (gb) {
      add_up(sums, ranges, narrow, gb);
    }
  }

 private:
  static constexpr size_t kRanges = 16;
  static constexpr size_t kNear = 3072;  // floats of b, with as many sums

  // b by coordinates where there are few of them, else with rows of whole registers.
  void pack(bool narrow) {
    packed_.assign(dims_ * columns_, 0.0f);
    for (size_t j = 0; j < s_.columns; ++j) {
      for (size_t k = 0; k < s_.dims; ++k) {
        packed_[narrow ? k * columns_ + j : j * dims_ + k] = b_[j * s_.dims + k];
      }
    }
  }

  template <Metric M>
  void range_narrow(size_t begin, size_t end, float* ga, float* gb) const {
    std::vector<float> line(2 * columns_, 0.0f);
    std::vector<float> ignored(s_.dims);
    for (size_t i = begin; i < end; ++i) {
      const float* d = d_ + i * s_.columns;
      const float* g = g_ + i * s_.columns;
      if (columns_ != s_.columns) {
        std::copy(d, d + s_.columns, line.begin());
        std::copy(g, g + s_.columns, line.begin() + columns_);
        d = line.data();
        g = d + columns_;
      }
      const float* a = a_ + i * s_.dims;
      float* to = ga ? ga + i * s_.dims : ignored.data();
      std::fill(to, to + s_.dims, 0.0f);
      switch (s_.dims) {
        case 1:
          pull_narrow<M, 1>(a, packed_.data(), columns_, columns_, d, g, to, gb);
          break;
        case 2:
          pull_narrow<M, 2>(a, packed_.data(), columns_, columns_, d, g, to, gb);
          break;
        case 3:
          pull_narrow<M, 3>(a, packed_.data(), columns_, columns_, d, g, to, gb);
          break;
        case 4:
          pull_narrow<M, 4>(a, packed_.data(), columns_, columns_, d, g, to, gb);
          break;
        default:
          break;  // points without coordinates pull nothing
      }
    }
  }

  // Stretches of b outside and rows inside, so that the stretch and its sums stay in the first
  // cache.
  template <Metric M>
  void range_wide(size_t begin, size_t end, float* ga, float* gb) const {
    size_t stretch = std::max<size_t>(kNear / dims_ / 8, 2) * 8;
    size_t rows = (end - begin + kRows - 1) / kRows * kRows;
    std::vector<float> weights(stretch * kRows, 0.0f);
    std::vector<float> points(rows * dims_, 0.0f);
    std::vector<float> sums(rows * dims_, 0.0f);
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(a_ + i * s_.dims, s_.dims, points.begin() + (i - begin) * dims_);
    }
    for (size_t left = 0; left < s_.columns; left += stretch) {
      size_t count = std::min(stretch, s_.columns - left);
      for (size_t top = begin; top < end; top += kRows) {
        for (size_t r = 0; r < kRows; ++r) {
          // Rows that fill up the last tile repeat the one before: without weight.
          size_t at = std::min(top + r, end - 1) * s_.columns + left;
          fill_weights<M>(d_ + at, g_ + at, count, r, weights.data());
        }
        for (size_t r = end - top; r < kRows; ++r) {
          for (size_t j = 0; j < count; ++j) {
            weights[j * kRows + r] = 0.0f;
          }
        }
        size_t own = (top - begin) * dims_;
        pull_wide<M>(points.data() + own, packed_.data() + left * dims_, weights.data(), count,
                     dims_, sums.data() + own, gb ? gb + left * dims_ : nullptr);
      }
    }
    for (size_t i = begin; ga && i < end; ++i) {
      std::copy_n(sums.begin() + (i - begin) * dims_, s_.dims, ga + i * s_.dims);
    }
  }

  void add_up(const std::vector<float>& sums, size_t ranges, bool narrow, float* gb) const {
    mx::cpu::parallel_for(s_.columns, 512, [&](size_t first, size_t last) {
      for (size_t j = first; j < last; ++j) {
        for (size_t k = 0; k < s_.dims; ++k) {
          float sum = 0;
          for (size_t i = 0; i < ranges; ++i) {
            sum += sums[i * dims_ * columns_ + (narrow ? k * columns_ + j : j * dims_ + k)];
          }
          gb[j * s_.dims + k] = sum;
        }
      }
    });
  }

  const float* a_;
  const float* b_;
  const float* d_;
  const float* g_;
  PairSizes s_;
  size_t dims_ = 0;  // with those that fill up a register
  size_t columns_ = 0;
  std::vector<float> packed_;
};

// Calls f<metric>() for a metric that is a sum over differences.
template <typename F>
void with_sum(Metric metric, F&& f) {
  with_metric(metric, [&]<Metric M>() {
    if constexpr (M == Metric::Cosine) {
      throw std::logic_error("[native::with_sum] The cosine is no sum over differences.");
    } else {
      f.template operator()<M>();
    }
  });
}

}  // namespace

template <typename T>
void distances(const float* a, const float* b, const PairSizes& s, Metric metric, T* out) {
  with_sum(metric, [&]<Metric M>() {
    for (size_t i = 0; i < s.batch; ++i) {
      distances_of_batch<M>(a + i * s.rows * s.dims, b + i * s.columns * s.dims, s,
                            out + i * s.rows * s.columns);
    }
  });
}

void distance_gradients(const float* a, const float* b, const float* d, const float* g,
                        const PairSizes& s, Metric metric, float* ga, float* gb) {
  with_sum(metric, [&]<Metric M>() {
    for (size_t i = 0; i < s.batch; ++i) {
      size_t pairs = i * s.rows * s.columns;
      Gradients gradients(a + i * s.rows * s.dims, b + i * s.columns * s.dims, d + pairs, g + pairs,
                          s);
      gradients.run<M>(ga ? ga + i * s.rows * s.dims : nullptr,
                       gb ? gb + i * s.columns * s.dims : nullptr);
    }
  });
}

template void distances<float>(const float*, const float*, const PairSizes&, Metric, float*);
template void distances<mx::float16_t>(const float*, const float*, const PairSizes&, Metric,
                                       mx::float16_t*);
template void distances<mx::bfloat16_t>(const float*, const float*, const PairSizes&, Metric,
                                        mx::bfloat16_t*);

}  // namespace mlx_sample::native
