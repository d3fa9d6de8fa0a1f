// Loops of the host that are compiled for several generations of processors; the best is chosen
// when the library is loaded.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MLX_SAMPLE_NATIVE \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MLX_SAMPLE_NATIVE
#endif
// For what such loops call: it must become a part of them.
#define MLX_SAMPLE_INLINE inline __attribute__((always_inline))

namespace mlx_sample {

// Results beyond this size leave the caches before anyone reads them.
constexpr size_t kBeyondCaches = size_t(1) << 24;

// Copies to memory that is not read soon, without reading it first. Rows of whole 16 bytes at such
// addresses profit. finish_streaming() comes before others read.
inline void stream_row(char* to, const char* from, size_t bytes) {
#if defined(__SSE2__)
  if (bytes % 16 == 0 && reinterpret_cast<size_t>(to) % 16 == 0) {
    for (size_t i = 0; i < bytes; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace mlx_sample
