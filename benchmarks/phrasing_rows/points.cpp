// Each point with each other.
#include <array>

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

// Lanes are points. Few are nearer than the four so far: those are inserted one by one.
extern "C" void nearest(const float* q, const float* p, int32_t* index, long queries, long points) {
  constexpr long kMost = 8192;
  constexpr int kNearest = 4, kVectors = 2;
  alignas(64) static float coordinates[3][kMost];
  for (long j = 0; j < points; ++j)
    for (int c = 0; c < 3; ++c) coordinates[c][j] = p[j * 3 + c];
  Threads::all().share_runs(queries, 64, [=](long first, long last) {
    for (long i = first; i < last; ++i) {
      std::array<float, kNearest> best;
      std::array<int32_t, kNearest> where{};
      best.fill(INFINITY);
      Floats own[3];
      for (int c = 0; c < 3; ++c) own[c] = splat(q[i * 3 + c]);
      for (long j = 0; j < points; j += kVectors * kLanes) {
        Floats squares[kVectors] = {};
        uint64_t near = 0;
        for (int v = 0; v < kVectors; ++v) {
          for (int c = 0; c < 3; ++c) {
            const Floats d = load(coordinates[c] + j + v * kLanes) - own[c];
            squares[v] += d * d;
          }
          near |= uint64_t{below(squares[v], splat(best[kNearest - 1]))} << v * kLanes;
        }
        for (; near; near &= near - 1) {
          const int lane = __builtin_ctzll(near);
          const float square = squares[lane / kLanes][lane % kLanes];
          if (!(square < best[kNearest - 1])) continue;
          int k = kNearest - 1;
          for (; k > 0 && square < best[k - 1]; --k) {
            best[k] = best[k - 1];
            where[k] = where[k - 1];
          }
          best[k] = square;
          where[k] = static_cast<int32_t>(j + lane);
        }
      }
      for (int k = 0; k < kNearest; ++k) index[i * kNearest + k] = where[k];
    }
  });
}
