// Loops over segments, shared out by rows among the cores. Results do not depend on how many there
// are.
#include "segments/native.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <vector>

#include "mlx/backend/cpu/parallel.h"
#include "native_loops.h"

namespace mlx_sample::native {

namespace {

// Rows that a core takes at a time: so many that a task is worth starting, but at most 256 KiB of
// floats.
size_t rows_per_task(size_t columns) {
  return std::clamp<size_t>((size_t(1) << 16) / std::max<size_t>(columns, 1), 64, 1 << 14);
}

struct Range {
  size_t first;
  size_t last;
  size_t size() const { return last - first; }
};

Range rows_of(const Layout& l, size_t segment) {
  return {static_cast<size_t>(l.offsets[segment]), static_cast<size_t>(l.offsets[segment + 1])};
}

size_t row_at(const Layout& l, size_t t) { return l.rows ? l.rows[t] : t; }

// Calls small(first, last) for runs of segments, each shorter than a task, in parallel, then
// large(k) for those that are worth sharing out themselves.
template <typename Small, typename Large>
void for_segments(const Layout& l, Small&& small, Large&& large) {
  size_t step = rows_per_task(l.columns);
  // Empty segments are work too: every segment counts as a row more.
  size_t work = l.total + l.count;
  // The first segment k with offsets[k] + k >= at.
  auto begin_of = [&](size_t at) {
    auto segments = std::views::iota(size_t(0), l.count);
    auto before = [&](size_t k) { return l.offsets[k] + k < at; };
    return size_t(std::ranges::partition_point(segments, before) - segments.begin());
  };
  std::vector<size_t> long_ones;
  if (l.total >= step) {
    for (size_t k = 0; k < l.count; ++k) {
      if (rows_of(l, k).size() > step) {
        long_ones.push_back(k);
      }
    }
  }
  mx::cpu::parallel_for((work + step - 1) / step, 1, [&](size_t first_task, size_t last_task) {
    size_t first = begin_of(first_task * step);
    size_t last = last_task * step >= work ? l.count : begin_of(last_task * step);
    auto skip = std::lower_bound(long_ones.begin(), long_ones.end(), first);
    for (; skip != long_ones.end() && *skip < last; ++skip) {
      small(first, *skip);
      first = *skip + 1;
    }
    small(first, last);
  });
  for (size_t k : long_ones) {
    large(k);
  }
}

// Parts of a long segment: calls part(number, range), in parallel. Returns how many there are.
template <typename F>
size_t for_parts(const Layout& l, size_t segment, F&& part) {
  Range all = rows_of(l, segment);
  size_t step = rows_per_task(l.columns);
  size_t parts = (all.size() + step - 1) / step;
  mx::cpu::parallel_for(parts, 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      part(i, Range{all.first + i * step, std::min(all.last, all.first + (i + 1) * step)});
    }
  });
  return parts;
}

// ---- reductions ----

template <typename A>
MLX_SAMPLE_INLINE A combine(A a, A b, Reduction r) {
  // Integers wrap around.
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    if (r == Reduction::Sum || r == Reduction::Mean) return A(U(a) + U(b));
    if (r == Reduction::Prod) return A(U(a) * U(b));
    return r == Reduction::Max ? std::max(a, b) : std::min(a, b);
  } else {
    if (r == Reduction::Sum || r == Reduction::Mean) return a + b;
    if (r == Reduction::Prod) return a * b;
    // What is not a number wins.
    if (r == Reduction::Max) return b > a || b != b ? b : a;
    return b < a || b != b ? b : a;
  }
}

template <typename A>
A identity(Reduction r) {
  using Limits = std::numeric_limits<A>;
  switch (r) {
    case Reduction::Max:
      return Limits::has_infinity ? A(-Limits::infinity()) : Limits::lowest();
    case Reduction::Min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Reduction::Prod:
      return A(1);
    default:
      return A(0);
  }
}

template <Reduction R, typename T, typename A>
MLX_SAMPLE_NATIVE void accumulate(const T* x, const int32_t* rows, size_t first, size_t last,
                                  size_t columns, A* sums) {
  constexpr size_t kAhead = 8;  // rows
  for (size_t t = first; t < last; ++t) {
    const T* row = x + (rows ? rows[t] : t) * columns;
    if (rows && t + kAhead < last) {
      const char* later = reinterpret_cast<const char*>(x + rows[t + kAhead] * columns);
      for (size_t i = 0; i < std::min<size_t>(columns * sizeof(T), 512); i += 64) {
        __builtin_prefetch(later + i);
      }
    }
#pragma GCC ivdep
    for (size_t c = 0; c < columns; ++c) {
      sums[c] = combine<A>(sums[c], static_cast<A>(row[c]), R);
    }
  }
}

// A single column: several sums at a time, which do not wait for each other.
template <Reduction R, typename T, typename A>
MLX_SAMPLE_NATIVE void accumulate_column(const T* x, size_t first, size_t last, A* sums) {
  constexpr size_t kSums = 16;
  A part[kSums];
  if (last - first >= 2 * kSums) {
    for (size_t i = 0; i < kSums; ++i) {
      part[i] = static_cast<A>(x[first + i]);
    }
    for (first += kSums; first + kSums <= last; first += kSums) {
      for (size_t i = 0; i < kSums; ++i) {
        part[i] = combine<A>(part[i], static_cast<A>(x[first + i]), R);
      }
    }
    for (size_t i = 0; i < kSums; ++i) {
      *sums = combine<A>(*sums, part[i], R);
    }
  }
  for (; first < last; ++first) {
    *sums = combine<A>(*sums, static_cast<A>(x[first]), R);
  }
}

template <Reduction R, typename T>
struct Reducer {
  using A = typename Accumulator<T>::type;
  const T* x;
  const Layout& l;
  T* y;

  void add(Range part, A* sums) const {
    if (l.columns == 1 && !l.rows) {
      accumulate_column<R>(x, part.first, part.last, sums);
    } else {
      accumulate<R>(x, l.rows, part.first, part.last, l.columns, sums);
    }
  }

  void finish(size_t segment, const A* sums) const {
    T* out = y + segment * l.columns;
    size_t rows = rows_of(l, segment).size();
    if (rows == 0) {
      std::fill(out, out + l.columns, static_cast<T>(A(R == Reduction::Prod)));
    } else if (R == Reduction::Mean) {
      for (size_t c = 0; c < l.columns; ++c) {
        out[c] = static_cast<T>(sums[c] / static_cast<A>(rows));
      }
    } else {
      for (size_t c = 0; c < l.columns; ++c) {
        out[c] = static_cast<T>(sums[c]);
      }
    }
  }

  void small(size_t first, size_t last) const {
    std::vector<A> sums(l.columns);
    for (size_t k = first; k < last; ++k) {
      std::fill(sums.begin(), sums.end(), identity<A>(R));
      add(rows_of(l, k), sums.data());
      finish(k, sums.data());
    }
  }

  void large(size_t segment) const {
    size_t most = rows_of(l, segment).size() / rows_per_task(l.columns) + 1;
    std::vector<A> parts(most * l.columns, identity<A>(R));
    size_t count = for_parts(
        l, segment, [&](size_t i, Range part) { add(part, parts.data() + i * l.columns); });
    // In order: the sum of the parts is the same in every run.
    for (size_t i = 1; i < count; ++i) {
      for (size_t c = 0; c < l.columns; ++c) {
        parts[c] = combine<A>(parts[c], parts[i * l.columns + c], R);
      }
    }
    finish(segment, parts.data());
  }
};

template <Reduction R, typename T>
void reduce_by(const T* x, const Layout& l, T* y) {
  Reducer<R, T> reducer{x, l, y};
  for_segments(
      l, [&](size_t first, size_t last) { reducer.small(first, last); },
      [&](size_t k) { reducer.large(k); });
}

// ---- spreading ----

void fill_rows(const char* value, size_t bytes, const Layout& l, Range part, bool streaming,
               char* out) {
  for (size_t t = part.first; t < part.last; ++t) {
    char* to = out + row_at(l, t) * bytes;
    if (streaming) {
      stream_row(to, value, bytes);
    } else {
      std::memcpy(to, value, bytes);
    }
  }
}

// value(k) is the row of segment k, good until the next call on the same thread.
template <typename Value>
void spread_values(const Layout& l, size_t bytes, char* out, Value&& make_value) {
  bool streaming = l.total * bytes >= kBeyondCaches;
  for_segments(
      l,
      [&](size_t first, size_t last) {
        auto value = make_value();
        for (size_t k = first; k < last; ++k) {
          if (Range rows = rows_of(l, k); rows.size() > 0) {
            fill_rows(value(k), bytes, l, rows, streaming, out);
          }
        }
        finish_streaming();
      },
      [&](size_t k) {
        auto value = make_value();
        const char* row = value(k);
        for_parts(l, k, [&](size_t, Range part) {
          fill_rows(row, bytes, l, part, streaming, out);
          finish_streaming();
        });
      });
}

// ---- ties ----

template <typename T>
MLX_SAMPLE_NATIVE void count_ties(const T* x, const T* y, const Layout& l, Range part,
                                  float* counts) {
  for (size_t t = part.first; t < part.last; ++t) {
    const T* row = x + (l.rows ? l.rows[t] : t) * l.columns;
    for (size_t c = 0; c < l.columns; ++c) {
      counts[c] += row[c] == y[c] ? 1.0f : 0.0f;
    }
  }
}

template <typename T, typename A>
MLX_SAMPLE_NATIVE void write_ties(const T* x, const T* y, const A* shares, const Layout& l,
                                  Range part, T* out) {
  for (size_t t = part.first; t < part.last; ++t) {
    size_t at = (l.rows ? l.rows[t] : t) * l.columns;
#pragma GCC ivdep
    for (size_t c = 0; c < l.columns; ++c) {
      out[at + c] = x[at + c] == y[c] ? static_cast<T>(shares[c]) : T(0);
    }
  }
}

template <typename A, typename T>
void shares_of(const T* g, float* counts, size_t columns, A* shares) {
  for (size_t c = 0; c < columns; ++c) {
    shares[c] = static_cast<A>(static_cast<A>(g[c]) / static_cast<A>(std::max(counts[c], 1.0f)));
  }
}

// ---- products of all others ----

// In two sweeps: the product of what comes before, times that of what comes after. With a direction
// u, numbers a + b e with e * e = 0: the derivative is carried along.
template <typename T>
void others_of_column(const T* x, const T* u, const Layout& l, Range rows, size_t c, float* before,
                      T* out) {
  auto at = [&](size_t t) { return row_at(l, t) * l.columns + c; };
  float value = 1;
  float slope = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    size_t place = at(rows.first + i);
    before[2 * i] = value;
    before[2 * i + 1] = slope;
    auto factor = static_cast<float>(x[place]);
    slope = slope * factor + (u ? value * static_cast<float>(u[place]) : 0.0f);
    value *= factor;
  }
  value = 1;
  slope = 0;
  for (size_t i = rows.size(); i-- > 0;) {
    size_t place = at(rows.first + i);
    out[place] = static_cast<T>(u ? before[2 * i] * slope + before[2 * i + 1] * value
                                  : before[2 * i] * value);
    auto factor = static_cast<float>(x[place]);
    slope = slope * factor + (u ? value * static_cast<float>(u[place]) : 0.0f);
    value *= factor;
  }
}

}  // namespace

template <typename T>
void reduce(const T* x, const Layout& l, Reduction reduction, T* y) {
  switch (reduction) {
    case Reduction::Sum:
      return reduce_by<Reduction::Sum>(x, l, y);
    case Reduction::Mean:
      return reduce_by<Reduction::Mean>(x, l, y);
    case Reduction::Max:
      return reduce_by<Reduction::Max>(x, l, y);
    case Reduction::Min:
      return reduce_by<Reduction::Min>(x, l, y);
    case Reduction::Prod:
      return reduce_by<Reduction::Prod>(x, l, y);
  }
}

void spread(const char* g, const Layout& l, size_t bytes, char* out) {
  spread_values(l, bytes, out, [&] { return [&](size_t k) { return g + k * bytes; }; });
}

template <typename T>
void spread_mean(const T* g, const Layout& l, T* out) {
  using A = typename Accumulator<T>::type;
  spread_values(l, l.columns * sizeof(T), reinterpret_cast<char*>(out), [&] {
    return [&, scaled = std::vector<T>(l.columns)](size_t k) mutable {
      auto rows = static_cast<A>(rows_of(l, k).size());
      for (size_t c = 0; c < l.columns; ++c) {
        scaled[c] = static_cast<T>(static_cast<A>(g[k * l.columns + c]) / rows);
      }
      return reinterpret_cast<const char*>(scaled.data());
    };
  });
}

template <typename T>
void share(const T* x, const T* y, const T* g, const Layout& l, T* out) {
  using A = typename Accumulator<T>::type;
  size_t columns = l.columns;
  for_segments(
      l,
      [&](size_t first, size_t last) {
        std::vector<float> counts(columns);
        std::vector<A> shares(columns);
        for (size_t k = first; k < last; ++k) {
          std::fill(counts.begin(), counts.end(), 0.0f);
          Range rows = rows_of(l, k);
          count_ties(x, y + k * columns, l, rows, counts.data());
          shares_of(g + k * columns, counts.data(), columns, shares.data());
          write_ties(x, y + k * columns, shares.data(), l, rows, out);
        }
      },
      [&](size_t k) {
        size_t most = rows_of(l, k).size() / rows_per_task(columns) + 1;
        std::vector<float> counts(most * columns, 0.0f);
        std::vector<A> shares(columns);
        size_t count = for_parts(l, k, [&](size_t i, Range part) {
          count_ties(x, y + k * columns, l, part, counts.data() + i * columns);
        });
        for (size_t i = columns; i < count * columns; ++i) {
          counts[i % columns] += counts[i];
        }
        shares_of(g + k * columns, counts.data(), columns, shares.data());
        for_parts(l, k, [&](size_t, Range part) {
          write_ties(x, y + k * columns, shares.data(), l, part, out);
        });
      });
}

template <typename T>
void others(const T* x, const T* u, const Layout& l, T* out) {
  auto column_range = [&](size_t k, size_t first, size_t last) {
    Range rows = rows_of(l, k);
    std::vector<float> before(2 * rows.size());
    for (size_t c = first; c < last; ++c) {
      others_of_column(x, u, l, rows, c, before.data(), out);
    }
  };
  for_segments(
      l,
      [&](size_t first, size_t last) {
        for (size_t k = first; k < last; ++k) {
          column_range(k, 0, l.columns);
        }
      },
      [&](size_t k) {
        mx::cpu::parallel_for(l.columns, 1,
                              [&](size_t first, size_t last) { column_range(k, first, last); });
      });
}

#define INSTANTIATE(T)                                                     \
  template void reduce<T>(const T*, const Layout&, Reduction, T*);         \
  template void spread_mean<T>(const T*, const Layout&, T*);               \
  template void share<T>(const T*, const T*, const T*, const Layout&, T*); \
  template void others<T>(const T*, const T*, const Layout&, T*);
INSTANTIATE(float)
INSTANTIATE(mx::float16_t)
INSTANTIATE(mx::bfloat16_t)
INSTANTIATE(int32_t)
INSTANTIATE(uint32_t)
INSTANTIATE(int64_t)

}  // namespace mlx_sample::native
