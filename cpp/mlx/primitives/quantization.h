// Quantization: how the numbers of an array are stored in a few bits each.
#pragma once

#include <string>

#include "mlx/dtype.h"

namespace mlx::core {

// Along rows, each group of numbers has a scale: a float, or a small one in a byte. In affine mode
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
  // Words of 32 bits that numbers of a row take, which are a multiple of the group size; and the
  // reverse.
  int words(int numbers) const { return static_cast<int>(int64_t{numbers} * bits / 32); }
  int64_t numbers(int words) const { return int64_t{words} * 32 / bits; }

  bool operator==(const Quantization&) const = default;
};

}  // namespace mlx::core
