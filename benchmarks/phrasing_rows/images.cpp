// Codes of four bits, an image that is magnified, and one whose edges meet.
#include <vector>

#include "threads.h"
#include "vectors.h"

namespace {

#if defined(__AVX512F__)
// Two codes of each of eight bytes.
Floats values_of(const uint8_t* codes, __m512 table) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
  const __m128i both = _mm_unpacklo_epi8(bytes, _mm_srli_epi16(bytes, 4));
  return _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(both), table);
}

// Four pixels of each of four places: what is between a place's pixel and its neighbours.
Floats between(const float* from) {
  const __m512i first = _mm512_setr_epi32(0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4);
  const __m512 weights = _mm512_setr_ps(.625f, .875f, .125f, .375f, .625f, .875f, .125f, .375f,
                                        .625f, .875f, .125f, .375f, .625f, .875f, .125f, .375f);
  const __m512 pixels = _mm512_loadu_ps(from);
  const Floats a = _mm512_permutexvar_ps(first, pixels);
  const Floats b = _mm512_permutexvar_ps(_mm512_add_epi32(first, _mm512_set1_epi32(1)), pixels);
  return a + Floats(weights) * (b - a);
}
#else
Floats values_of(const uint8_t* codes, const float* table) {
  Floats values;
  for (int i = 0; i < kLanes; ++i) values[i] = table[codes[i / 2] >> (4 * (i % 2)) & 15];
  return values;
}

Floats between(const float* from) {
  const float weights[] = {.625f, .875f, .125f, .375f};
  Floats values;
  for (int i = 0; i < kLanes; ++i) {
    const float* pixel = from + (i + 2) / 4;
    values[i] = pixel[0] + weights[i % 4] * (pixel[1] - pixel[0]);
  }
  return values;
}
#endif

// The row of the image between two of its rows, with a pixel more on the left and some on the
// right.
void row_between(const float* x, long height, long width, long row, float* between) {
  const float at = (static_cast<float>(row) + 0.5f) / 4 - 0.5f;
  const float above = std::floor(at);
  const float* a = x + std::clamp(static_cast<long>(above), 0L, height - 1) * width;
  const float* b = x + std::clamp(static_cast<long>(above) + 1, 0L, height - 1) * width;
  const Floats weight = splat(at - above);
  for (long i = 0; i < width; i += kLanes)
    store(between + 1 + i, load(a + i) + weight * (load(b + i) - load(a + i)));
  between[0] = between[1];
  for (long i = width + 1; i < width + 1 + kLanes; ++i) between[i] = between[width];
}

}  // namespace

extern "C" void codes(const uint8_t* q, const float* table, const float* scales, float* o,
                      long count) {
  Threads::all().share_runs(count, 1 << 16, [=](long first, long last) {
#if defined(__AVX512F__)
    const __m512 values = _mm512_loadu_ps(table);
#else
    const float* values = table;
#endif
    for (long i = first; i < last; i += 64) {
      const Floats scale = splat(scales[i / 64]);
      for (long k = i; k < i + 64; k += kLanes) stream(o + k, values_of(q + k / 2, values) * scale);
    }
    finish_streams();
  });
}

extern "C" void magnify(const float* x, float* o, long height, long width) {
  Threads::all().share_runs(height, 16, [=](long first, long last) {
    std::vector<float> row(width / 4 + 2 * kLanes);
    for (long r = first; r < last; ++r) {
      row_between(x, height / 4, width / 4, r, row.data());
      for (long c = 0; c < width; c += kLanes) stream(o + r * width + c, between(&row[c / 4]));
    }
    finish_streams();
  });
}

extern "C" void torus(const float* x, float* o, long height, long width) {
  Threads::all().share_runs(height, 16, [=](long first, long last) {
    for (long r = first; r < last; ++r) {
      const float* row = x + r * width;
      const float* up = x + (r + height - 1) % height * width;
      const float* down = x + (r + 1) % height * width;
      const auto beside = [&](long c) {
        float values[kLanes];
        for (int i = 0; i < kLanes; ++i)
          values[i] = row[(c + i + width - 1) % width] + row[(c + i + 1) % width];
        return load(values);
      };
      for (long c = 0; c < width; c += kLanes) {
        const bool inside = c > 0 && c + kLanes < width;
        const Floats sides = inside ? load(row + c - 1) + load(row + c + 1) : beside(c);
        stream(o + r * width + c, 0.25f * (sides + load(up + c) + load(down + c)));
      }
    }
    finish_streams();
  });
}
