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

extern "C" void row_sums(const float* x, float* o, long rows, long columns) {
  Threads::all().share_runs(rows, 32, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const float* from = x + row * columns;
      Floats sums[8] = {};
      for (long i = 0; i < columns; i += 8 * kLanes)
        for (int k = 0; k < 8; ++k) sums[k] += load(from + i + k * kLanes);
      for (int k = 1; k < 8; ++k) sums[0] += sums[k];
      o[row] = sum_of(sums[0]);
    }
  });
}

// A part of the rows adds up in the first cache, eight rows at a time.
extern "C" void column_sums(const float* x, float* o, long rows, long columns) {
  constexpr long kEight = 8;
  std::fill(o, o + columns, 0.0f);
  std::mutex adding;
  Threads::all().share_runs(rows, 256, [&](long first, long last) {
    alignas(64) float sums[8192] = {};
    for (long row = first; row < last; row += kEight) {
      const float* from = x + row * columns;
      for (long i = 0; i < columns; i += kLanes) {
        Floats sum = load(sums + i);
        for (int k = 0; k < kEight; ++k) sum += load(from + k * columns + i);
        store(sums + i, sum);
      }
    }
    const std::lock_guard lock(adding);
    for (long i = 0; i < columns; i += kLanes) store(o + i, load(o + i) + load(sums + i));
  });
}

extern "C" void layer_norm(const float* x, const float* w, const float* b, float* o, long rows,
                           long columns) {
  Threads::all().share_runs(rows, 32, [=](long first, long last) {
    for (long row = first; row < last; ++row) {
      const float* from = x + row * columns;
      float* to = o + row * columns;
      Floats sums[4] = {}, squares[4] = {};
      for (long i = 0; i < columns; i += 4 * kLanes) {
        for (int k = 0; k < 4; ++k) {
          const Floats value = load(from + i + k * kLanes);
          sums[k] += value;
          squares[k] += value * value;
        }
      }
      const float mean = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3])) / columns;
      const float square = sum_of((squares[0] + squares[1]) + (squares[2] + squares[3])) / columns;
      const Floats factor = splat(1 / std::sqrt(square - mean * mean + 1e-5f));
      for (long i = 0; i < columns; i += kLanes)
        stream(to + i, (load(from + i) - mean) * factor * load(w + i) + load(b + i));
    }
    finish_streams();
  });
}

// A vector's sums do not wait for those before: only one addition does.
extern "C" void prefix_sums(const float* x, float* o, long rows, long columns) {
  Threads::all().share_runs(rows, 16, [=](long first, long last) {
    Ints last_lane;
    for (int i = 0; i < kLanes; ++i) last_lane[i] = kLanes - 1;
    for (long row = first; row < last; ++row) {
      Floats before = {};
      for (long i = row * columns; i < (row + 1) * columns; i += kLanes) {
        Floats sums = load(x + i);
        sums += moved<1>(sums);
        sums += moved<2>(sums);
        if constexpr (kLanes > 4) sums += moved<4>(sums);
        if constexpr (kLanes > 8) sums += moved<8>(sums);
        stream(o + i, sums + before);
        before += __builtin_shuffle(sums, last_lane);
      }
    }
    finish_streams();
  });
}
