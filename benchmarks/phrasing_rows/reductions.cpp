// Sums over rows and columns, what is divided by them, scans and a histogram.
#include <array>
#include <mutex>

#include "threads.h"
#include "vectors.h"

// Equal values in succession would wait for each other's store: eight tables take turns.
extern "C" void histogram(const uint32_t* values, uint32_t* counts, long count) {
  constexpr int kBins = 256, kTables = 8;
  std::fill(counts, counts + kBins, 0);
  std::mutex adding;
  Threads::all().share_runs(count, 1 << 19, [&](long first, long last) {
    std::array<std::array<uint32_t, kBins>, kTables> tables{};
    for (long i = first; i < last; i += kTables) {
      for (int k = 0; k < kTables; k += 2) {
        uint64_t two;
        std::memcpy(&two, values + i + k, sizeof(two));
        ++tables[k][static_cast<uint32_t>(two)];
        ++tables[k + 1][two >> 32];
      }
    }
    const std::lock_guard lock(adding);
    for (const auto& table : tables)
      for (int bin = 0; bin < kBins; ++bin) counts[bin] += table[bin];
  });
}

extern "C" void softmax(const float* x, float* o, long rows, long columns) {
  Threads::all().share_runs(rows, 32, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const float* from = x + row * columns;
      float* to = o + row * columns;
      Floats most[4] = {load(from), load(from), load(from), load(from)};
      for (long i = 0; i < columns; i += 4 * kLanes)
        for (int k = 0; k < 4; ++k) most[k] = larger(most[k], load(from + i + k * kLanes));
      const Floats shift =
          splat(largest_of(larger(larger(most[0], most[1]), larger(most[2], most[3]))));
      alignas(64) float powers[8192];
      Floats sums[2] = {};
      for (long i = 0; i < columns; i += 2 * kLanes) {
        for (int k = 0; k < 2; ++k) {
          const Floats power = exponential(load(from + i + k * kLanes) - shift);
          sums[k] += power;
          store(powers + i + k * kLanes, power);
        }
      }
      const Floats factor = splat(1 / sum_of(sums[0] + sums[1]));
      for (long i = 0; i < columns; i += kLanes) stream(to + i, load(powers + i) * factor);
    }
    finish_streams();
  });
}
