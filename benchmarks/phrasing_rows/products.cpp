// Products of matrices and vectors.
#include <memory>

#include "threads.h"
#include "vectors.h"

namespace {

// A block of results stays in registers: 6 x 2 of 16, or 12 x 2 of 32.
constexpr int kRows = kBytes == 64 ? 12 : 6, kColumns = 2 * kLanes;
constexpr long kDepth = 256, kHeight = 96;

// c += a b for Rows x kColumns results; both panels lie as they are read.
template <int Rows>
void multiply_block(const float* a, const float* b, float* c, long size, long depth, bool first) {
  Floats sums[Rows][2];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < 2; ++j) sums[i][j] = first ? Floats{} : load(c + i * size + j * kLanes);
  for (long k = 0; k < depth; ++k) {
    const Floats b0 = load(b + k * kColumns), b1 = load(b + k * kColumns + kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < Rows; ++i) {
      const Floats value = splat(a[k * kRows + i]);
      sums[i][0] += value * b0;
      sums[i][1] += value * b1;
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < 2; ++j) store(c + i * size + j * kLanes, sums[i][j]);
}

template <int Rows = kRows>
void multiply_rows(long rows, const float* a, const float* b, float* c, long size, long depth,
                   bool first) {
  if (rows >= Rows) return multiply_block<Rows>(a, b, c, size, depth, first);
  if constexpr (Rows > 1) multiply_rows<Rows - 1>(rows, a, b, c, size, depth, first);
}

// Rows of `a` in panels of kRows, each panel column by column.
void pack_rows(const float* a, float* packed, long rows, long size, long depth) {
  for (long row = 0; row < rows; row += kRows) {
    for (long i = 0; i < std::min<long>(kRows, rows - row); ++i)
      for (long k = 0; k < depth; ++k)
        packed[row * depth + k * kRows + i] = a[(row + i) * size + k];
  }
}

}  // namespace

// Square matrices; `size` is a multiple of kColumns.
extern "C" void matmul(const float* a, const float* b, float* c, long size) {
  static thread_local std::unique_ptr<float[]> packed;
  if (!packed) packed.reset(new float[kDepth * 8192]);
  float* panels = packed.get();
  for (long k = 0; k < size; k += kDepth) {
    const long depth = std::min(kDepth, size - k);
    Threads::all().share_runs(size, 8 * kColumns, [=](long first, long last) {
      for (long column = first; column < last; column += kColumns)
        for (long i = 0; i < depth; ++i)
          std::memcpy(panels + column * depth + i * kColumns, b + (k + i) * size + column,
                      kColumns * sizeof(float));
    });
    Threads::all().share_runs(size, kHeight, [=](long first, long last) {
      alignas(64) float own[kHeight * kDepth];
      pack_rows(a + first * size + k, own, last - first, size, depth);
      for (long column = 0; column < size; column += kColumns)
        for (long row = first; row < last; row += kRows)
          multiply_rows(last - row, own + (row - first) * depth, panels + column * depth,
                        c + row * size + column, size, depth, k == 0);
    });
  }
}

namespace {

constexpr long kBlock = 32, kBlockBytes = 18;  // a half scale and 16 pairs of weights

float half_at(const uint8_t* from) {
  _Float16 value;
  std::memcpy(&value, from, sizeof(value));
  return static_cast<float>(value);
}

#if defined(__AVX512F__)
// As the weights lie: byte i has weight i and weight i + 16.
constexpr int place_of(int i) { return i; }

Floats block_times(const uint8_t* pairs, const float* x) {
  const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)pairs));
  // The low four bits of an index choose among sixteen floats.
  const __m512 numbers = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512 low = _mm512_permutexvar_ps(bytes, numbers);
  const __m512 high = _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), numbers);
  return low * load(x) + high * load(x + 16);
}
#else
// By words of four bytes, and in each from the lowest bits on.
constexpr int place_of(int i) { return i % 16 * 2 + i / 16; }

Floats block_times(const uint8_t* pairs, const float* x) {
  Ints shifts;
  for (int i = 0; i < kLanes; ++i) shifts[i] = 4 * (i % 8);
  Floats sum = {};
  for (int i = 0; i < kBlock; i += kLanes) {
    int32_t word;
    std::memcpy(&word, pairs + i / 8 * 4, sizeof(word));
    Ints all = word - Ints{};
    if constexpr (kLanes < 8) all >>= 4 * (i % 8);
    sum += __builtin_convertvector((all >> shifts) & 15, Floats) * load(x + i);
  }
  return sum;
}
#endif

}  // namespace

// Eight times each block's sum of values is the same for all rows, and is taken off at the end.
extern "C" void quantized(const uint8_t* w, const float* x, float* y, long rows, long columns) {
  alignas(64) static float values[kBlock * 1024], eights[1024];
  const long blocks = columns / kBlock;
  for (long i = 0; i < blocks; ++i) {
    eights[i] = 0;
    for (int k = 0; k < kBlock; ++k) {
      values[i * kBlock + place_of(k)] = x[i * kBlock + k];
      eights[i] += 8 * x[i * kBlock + k];
    }
  }
  Threads::all().share_runs(rows, 64, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const uint8_t* from = w + row * blocks * kBlockBytes;
      Floats sums[2] = {};
      float off[2] = {};
      for (long i = 0; i < blocks; i += 2) {
        for (int k = 0; k < 2; ++k, from += kBlockBytes) {
          __builtin_prefetch(from + 1024);
          const float scale = half_at(from);
          sums[k] += block_times(from + 2, values + (i + k) * kBlock) * scale;
          off[k] += scale * eights[i + k];
        }
      }
      y[row] = sum_of(sums[0] + sums[1]) - (off[0] + off[1]);
    }
  });
}

// Four keys or values at once share the query and the result.
extern "C" void attention(const float* q, const float* k, const float* v, float* o, long heads,
                          long keys) {
  constexpr long kWidth = 128, kFour = 4, kMostKeys = 8192;
  Threads::all().share(static_cast<uint32_t>(heads), [=](long head) {
    const float* query = q + head * kWidth;
    alignas(64) float scores[kMostKeys];
    for (long i = 0; i < keys; i += kFour) {
      const float* from = k + (head * keys + i) * kWidth;
      Floats sums[kFour] = {};
      for (long d = 0; d < kWidth; d += kLanes)
        for (int j = 0; j < kFour; ++j) sums[j] += load(query + d) * load(from + j * kWidth + d);
      for (int j = 0; j < kFour; ++j) scores[i + j] = sum_of(sums[j]) * 0.0883883476f;
    }
    Floats most = load(scores), total = {};
    for (long i = 0; i < keys; i += kLanes) most = larger(most, load(scores + i));
    most = splat(largest_of(most));
    for (long i = 0; i < keys; i += kLanes) {
      const Floats power = exponential(load(scores + i) - most);
      total += power;
      store(scores + i, power);
    }
    Floats result[kWidth / kLanes] = {};
    for (long i = 0; i < keys; i += kFour) {
      const float* from = v + (head * keys + i) * kWidth;
      for (long d = 0; d < kWidth / kLanes; ++d)
        for (int j = 0; j < kFour; ++j)
          result[d] += load(from + j * kWidth + d * kLanes) * scores[i + j];
    }
    const float factor = 1 / sum_of(total);
    for (long d = 0; d < kWidth / kLanes; ++d)
      store(o + head * kWidth + d * kLanes, result[d] * factor);
  });
}

extern "C" void matrix_vector(const float* a, const float* x, float* o, long rows, long columns) {
  Threads::all().share_runs(rows, 32, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const float* from = a + row * columns;
      Floats sums[8] = {};
      for (long i = 0; i < columns; i += 8 * kLanes)
        for (int k = 0; k < 8; ++k)
          sums[k] += load(from + i + k * kLanes) * load(x + i + k * kLanes);
      for (int k = 1; k < 8; ++k) sums[0] += sums[k];
      o[row] = sum_of(sums[0]);
    }
  });
}

// Scalar code: gathers of vectors take longer on some processors, and rows are short.
extern "C" void sparse_product(const int32_t* starts, const int32_t* columns, const float* a,
                               const float* x, float* o, long rows) {
  Threads::all().share_runs(rows, 1024, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const int32_t end = starts[row + 1];
      int32_t j = starts[row];
      float sums[2] = {};
      for (; j + 1 < end; j += 2)
        for (int k = 0; k < 2; ++k) sums[k] += a[j + k] * x[columns[j + k]];
      if (j < end) sums[0] += a[j] * x[columns[j]];
      o[row] = sums[0] + sums[1];
    }
  });
}
