// Each point with each other.
#include "threads.h"
#include "vectors.h"

namespace {

// The machine's estimate, and a step of Newton's method.
Floats inverse_root(Floats x) {
#if defined(__AVX512F__)
  const Floats y = _mm512_rsqrt14_ps(x);
#elif defined(__AVX__)
  const Floats y = _mm256_rsqrt_ps(x);
#else
  Floats y;
  for (int i = 0; i < kLanes; ++i) y[i] = 1 / std::sqrt(x[i]);
#endif
  return y * (1.5f - 0.5f * x * y * y);
}

// Which lanes are below the limit, as bits.
unsigned below(Floats x, Floats limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(x, limit, _CMP_LT_OQ);
#elif defined(__AVX__)
  return _mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_LT_OQ));
#else
  unsigned bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= static_cast<unsigned>(x[i] < limit[i]) << i;
  return bits;
#endif
}

}  // namespace

// Lanes are bodies; two vectors share what is read of the other bodies.
extern "C" void bodies(const float* p, float* a, long count) {
  constexpr int kVectors = 2;
  Threads::all().share_runs(count, 8 * kVectors * kLanes, [=](long first, long last) {
    for (long i = first; i < last; i += kVectors * kLanes) {
      Floats own[kVectors][3], sums[kVectors][3] = {};
      for (int v = 0; v < kVectors; ++v)
        for (int c = 0; c < 3; ++c)
          for (int lane = 0; lane < kLanes; ++lane)
            own[v][c][lane] = p[(i + v * kLanes + lane) * 4 + c];
      for (long j = 0; j < count; ++j) {
        for (int v = 0; v < kVectors; ++v) {
          Floats d[3], square = splat(0.01f);
          for (int c = 0; c < 3; ++c) {
            d[c] = p[j * 4 + c] - own[v][c];
            square += d[c] * d[c];
          }
          const Floats inverse = inverse_root(square);
          const Floats factor = (p[j * 4 + 3] * inverse) * (inverse * inverse);
          for (int c = 0; c < 3; ++c) sums[v][c] += d[c] * factor;
        }
      }
      for (int v = 0; v < kVectors; ++v) {
        for (int lane = 0; lane < kLanes; ++lane) {
          float* to = a + (i + v * kLanes + lane) * 4;
          for (int c = 0; c < 3; ++c) to[c] = sums[v][c][lane];
          to[3] = 0;
        }
      }
    }
  });
}

// Lanes are queries. A point that is near one of them is put into the lists of all for whom it is.
extern "C" void nearest(const float* q, const float* p, int32_t* index, long queries, long points) {
  constexpr int kNearest = 4;
  Threads::all().share_runs(queries, 8 * kLanes, [=](long first, long last) {
    for (long i = first; i < last; i += kLanes) {
      Floats own[3], best[kNearest];
      Ints where[kNearest] = {};
      for (int c = 0; c < 3; ++c)
        for (int lane = 0; lane < kLanes; ++lane) own[c][lane] = q[(i + lane) * 3 + c];
      for (Floats& far : best) far = splat(INFINITY);
      for (long j = 0; j < points; ++j) {
        Floats square = {};
        for (int c = 0; c < 3; ++c) {
          const Floats d = p[j * 3 + c] - own[c];
          square += d * d;
        }
        if (!below(square, best[kNearest - 1])) continue;
        const Ints here = static_cast<int32_t>(j) - Ints{};
        for (int k = kNearest - 1; k > 0; --k) {
          where[k] = square < best[k - 1] ? where[k - 1] : square < best[k] ? here : where[k];
          best[k] = square < best[k - 1] ? best[k - 1] : square < best[k] ? square : best[k];
        }
        where[0] = square < best[0] ? here : where[0];
        best[0] = square < best[0] ? square : best[0];
      }
      for (int lane = 0; lane < kLanes; ++lane)
        for (int k = 0; k < kNearest; ++k) index[(i + lane) * kNearest + k] = where[k][lane];
    }
  });
}
