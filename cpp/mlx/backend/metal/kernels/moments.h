// What variances are computed from: how many numbers there are, their mean, and the sum of the
// squares of their distances from it. Two sets of numbers combine without differences of large
// squares (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
// sample variances").
#pragma once

#include "mlx/backend/metal/kernels/lanes.h"

struct Moments {
  float count;
  float origin;   // one of the numbers
  float mean;     // less the origin: a mean that is large beside the distances would round them
  float squares;  // the sum
};

template <typename From>
struct Convert<Moments, From> {
  // The difference is NaN for infinities, of which no distance is known.
  static Moments apply(From x) {
    const float value = static_cast<float>(x);
    return {1, value, 0, value - value};
  }
};
template <>
struct Convert<Moments, Moments> {
  static Moments apply(Moments m) { return m; }
};

inline Moments from_lane(Moments m, ushort distance) {
  return {simd_shuffle_xor(m.count, distance), simd_shuffle_xor(m.origin, distance),
          simd_shuffle_xor(m.mean, distance), simd_shuffle_xor(m.squares, distance)};
}

struct CombineMoments {
  template <typename U>
  using combined_t = Moments;
  template <typename T>
  static Moments neutral() {
    return {0, 0, 0, 0};
  }
  static Moments apply(Moments a, Moments b) {
    const float count = a.count + b.count;
    const float share = count > 0 ? fast::divide(b.count, count) : 0;
    const float origin = a.count > 0 ? a.origin : b.origin;
    const float distance = (b.origin - origin) + (b.mean - a.mean);
    // The square alone may overflow where a.count is 0.
    return {count, origin, a.mean + distance * share,
            a.squares + b.squares + distance * share * a.count * distance};
  }
  template <typename U>
  static Moments result(Moments all, float) {
    return all;
  }
};
struct Variance : CombineMoments {
  template <typename U>
  static U result(Moments all, float divisor) {
    return convert<U>(all.squares / divisor);
  }
};
