// The taps of a point: the pixels around it with their weights, a row of the sparse matrix of
// sampling.
#pragma once

#include "grid_sample/sizes.h"
#include "grid_sample/weights.h"

// With few channels a thread computes all channels of a point. Otherwise it computes one of them,
// and the taps of the point are computed before.
constant bool few [[function_constant(5)]];

constant int taps = reach * reach;

#define FOR_EACH_TAP _Pragma("clang loop unroll(full)") for (int t = 0; t < taps; ++t)

struct Taps {
  uint pixels[16];  // index among the pixels of all pictures
  float weights[16];
};

METAL_FUNC Taps taps_around(float x, float y, uint picture, constant GridSizes& sizes,
                            int by_column, int by_row) {
  const auto columns = pixels_around(x, sizes.width, by_column);
  const auto rows = pixels_around(y, sizes.height, by_row);
  const uint first_row = picture * sizes.height;
  Taps result;
  FOR_EACH_TAP {
    const int row = rows.index[t / reach], column = columns.index[t % reach];
    result.pixels[t] =
        row >= 0 && column >= 0 ? (first_row + row) * sizes.width + column : sizes.none;
    result.weights[t] = rows.weights[t / reach] * columns.weights[t % reach];
  }
  return result;
}

METAL_FUNC Taps taps_at(size_t point, device const uint* pixels, device const float* weights) {
  Taps result;
  FOR_EACH_TAP {
    result.pixels[t] = pixels[point * taps + t];
    result.weights[t] = weights[point * taps + t];
  }
  return result;
}
