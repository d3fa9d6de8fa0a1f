// What moves each value once: exp, a transpose, a gather and a stencil.
#include "threads.h"
#include "vectors.h"

namespace {

constexpr long kTile = 16;  // floats of a cache line

#if defined(__AVX__)
// The 8x8 transpose: pairs, then quads, then halves.
void transpose_8x8(const float* from, long row, float* to, long column) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_ps(from + i * row);
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * column, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * column, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
  }
}
#else
void transpose_8x8(const float* from, long row, float* to, long column) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) to[j * column + i] = from[i * row + j];
}
#endif

// Rows a power of two apart share a set of the cache: a tile reads each line of its rows once.
void transpose_tile(const float* from, float* to, long size) {
  alignas(64) float tile[kTile][kTile];
  for (long row = 0; row < kTile; row += 8)
    for (long column = 0; column < kTile; column += 8)
      transpose_8x8(from + row * size + column, size, &tile[column][row], kTile);
  for (long row = 0; row < kTile; ++row)
    for (long i = 0; i < kTile; i += kLanes) stream(to + row * size + i, load(&tile[row][i]));
}

}  // namespace

extern "C" void exponentials(const float* x, float* o, long count) {
  Threads::all().share_runs(count, 1 << 16, [=](long first, long last) {
    for (long i = first; i < last; i += 2 * kLanes) {
      stream(o + i, exponential(load(x + i)) * 2.0f + 1.0f);
      stream(o + i + kLanes, exponential(load(x + i + kLanes)) * 2.0f + 1.0f);
    }
    finish_streams();
  });
}

extern "C" void transpose(const float* x, float* o, long size) {
  Threads::all().share_runs(size, 4 * kTile, [=](long first, long last) {
    for (long column = 0; column < size; column += kTile)
      for (long row = first; row < last; row += kTile)
        transpose_tile(x + row * size + column, o + column * size + row, size);
    finish_streams();
  });
}

namespace {

// Vectors at `column` and after it. Several are computed before they are stored: loads would wait
// for stores whose addresses have the same low bits.
template <int Vectors>
void stencil_run(const float* x, const Floats* weights, float* out, long width, long row, long from,
                 long to, long column) {
  Floats sums[Vectors] = {};
  for (long i = from; i <= to; ++i)
    for (int j = 0; j < 3; ++j)
      for (int v = 0; v < Vectors; ++v)
        sums[v] +=
            load(x + i * width + column + v * kLanes + j - 1) * weights[(i - row + 1) * 3 + j];
  for (int v = 0; v < Vectors; ++v) stream(out + column + v * kLanes, sums[v]);
}

// The first or the last vector of a row.
template <bool kFirst>
Floats stencil_edge(const float* x, const Floats* weights, long width, long row, long from,
                    long to) {
  const long column = kFirst ? 0 : width - kLanes;
  Floats sum = {};
  for (long i = from; i <= to; ++i) {
    const float* at = x + i * width + column;
    const Floats left = kFirst ? moved<1>(load(at)) : load(at - 1);
    const Floats right = kFirst ? load(at + 1) : moved<-1>(load(at));
    const Floats* w = weights + (i - row + 1) * 3;
    sum += left * w[0] + load(at) * w[1] + right * w[2];
  }
  return sum;
}

}  // namespace

extern "C" void stencil(const float* x, const float* w, float* o, long height, long width) {
  Threads::all().share_runs(height, 64, [=](long first, long last) {
    Floats weights[9];
    for (int k = 0; k < 9; ++k) weights[k] = splat(w[k]);
    for (long row = first; row < last; ++row) {
      const long from = std::max(row - 1, 0L), to = std::min(row + 1, height - 1);
      float* out = o + row * width;
      stream(out, stencil_edge<true>(x, weights, width, row, from, to));
      constexpr int kVectors = 4;
      long column = kLanes;
      for (; column <= width - kLanes - kVectors * kLanes; column += kVectors * kLanes)
        stencil_run<kVectors>(x, weights, out, width, row, from, to, column);
      for (; column < width - kLanes; column += kLanes)
        stencil_run<1>(x, weights, out, width, row, from, to, column);
      stream(out + column, stencil_edge<false>(x, weights, width, row, from, to));
    }
    finish_streams();
  });
}

extern "C" void gather(const float* x, const uint32_t* index, float* o, long count) {
  Threads::all().share_runs(count, 1 << 16, [=](long first, long last) {
    for (long i = first; i < last; i += kLanes) {
#if defined(__AVX512F__)
      stream(o + i, _mm512_i32gather_ps(_mm512_loadu_si512(index + i), x, 4));
#else
      Floats values;
      for (int k = 0; k < kLanes; ++k) values[k] = x[index[i + k]];
      stream(o + i, values);
#endif
    }
    finish_streams();
  });
}
