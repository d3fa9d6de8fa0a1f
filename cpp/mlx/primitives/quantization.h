// Quantization: the format of a quantised array.
#pragma once

#include <string>

#include "mlx/dtype.h"

namespace mlx::core {

// Each group of elements in a row has a scale: a float, or an 8-bit float in a byte. In affine mode
// it has a bias too.
struct Quantization {
  enum Mode { Affine, Mxfp4, Mxfp8, Nvfp4 };

  Mode mode;
  int group_size;
  int bits;

  const char* mode_name() const {
    constexpr const char* kNames[] = {"affine", "mxfp4", "mxfp8", "nvfp4"};
    return kNames[mode];
  }
  bool affine() const { return mode == Affine; }
  // The number of 32-bit words for so many elements of a row, a multiple of the group size; and the
  // inverse.
  int words(int numbers) const { return static_cast<int>(int64_t{numbers} * bits / 32); }
  int64_t numbers(int words) const { return int64_t{words} * 32 / bits; }

  bool operator==(const Quantization&) const = default;
};

}  // namespace mlx::core
