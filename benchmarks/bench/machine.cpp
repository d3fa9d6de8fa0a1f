// The machine's limits: bytes copied and float operations computed by a number of threads.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
using Vector [[gnu::vector_size(kBytes)]] = float;

template <typename Work>
double seconds(int threads, Work work) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

extern "C" double copy_seconds(char* to, const char* from, size_t size, int threads) {
  const size_t part = size / threads;
  return seconds(threads, [=](int i) { std::memcpy(to + i * part, from + i * part, part); });
}

// Ten independent chains a thread hide the latency of two multiply-add units. They start with
// different numbers, or the compiler would compute one for all.
extern "C" double fma_flops(long rounds, int threads) {
  constexpr int kChains = 10;
  std::vector<float> sink(threads);
  const double time = seconds(threads, [&](int thread) {
    Vector sums[kChains];
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = Vector{} + float(chain);
    const Vector a = Vector{} + 0.999f, b = Vector{} + 0.5f;
    for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
      for (Vector& sum : sums) sum = sum * a + b;
    }
    for (const Vector& sum : sums) sink[thread] += sum[0];
    asm volatile("" : : "r"(&sink[thread]) : "memory");
  });
  return 2.0 * (kBytes / 4) * kChains * static_cast<double>(rounds) * threads / time;
}
