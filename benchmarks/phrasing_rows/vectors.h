// The widest vectors of floats that the machine has.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kLanes = kBytes / 4;
using Floats [[gnu::vector_size(kBytes)]] = float;
using Ints [[gnu::vector_size(kBytes)]] = int32_t;

inline Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void store(float* to, Floats value) { std::memcpy(to, &value, sizeof(value)); }

// Subtracting zero changes nothing, which compilers know (adding it changes -0).
inline Floats splat(float value) { return value - Floats{}; }

// Stores past the caches: `to` is aligned to a vector.
inline void stream(float* to, Floats value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, value);
#elif defined(__AVX__)
  _mm256_stream_ps(to, value);
#elif defined(__x86_64__)
  _mm_stream_ps(to, value);
#else
  store(to, value);
#endif
}

// After the last `stream` of a thread.
inline void finish_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

inline Floats larger(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_max_ps(a, b);
#elif defined(__AVX__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

inline float sum_of(Floats value) {
  float sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += value[i];
  return sum;
}

inline float largest_of(Floats value) {
  float most = value[0];
  for (int i = 1; i < kLanes; ++i) most = value[i] > most ? value[i] : most;
  return most;
}

// exp(x) = 2^n exp(r), where adding 1.5 * 2^23 rounds n into the low bits.
inline Floats exponential(Floats x) {
  x = larger(x, splat(-87));
  const Floats magic = splat(12582912.0f);
  const Floats shifted = x * 1.44269504f + magic;
  const Floats n = shifted - magic;
  const Floats r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  Floats p = r * 1.3888889e-3f + 8.3333333e-3f;
  p = p * r + 4.1666667e-2f;
  p = p * r + 1.6666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * (Floats)((((Ints)shifted) << 23) + 0x3f800000);
}

// The lanes moved by kBy towards higher ones, or towards lower ones if it is negative; zeros come
// in.
template <int kBy>
Floats moved(Floats value) {
  Ints from;
  for (int i = 0; i < kLanes; ++i) from[i] = i < kBy || i - kBy >= kLanes ? 0 : kLanes + i - kBy;
  return __builtin_shuffle(Floats{}, value, from);
}
