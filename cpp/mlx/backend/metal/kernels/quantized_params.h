// Parameters of kernels for numbers of few bits; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

struct MatvecParams {
  uint32_t columns;  // numbers of a row of w, and of a vector
  uint32_t rows;     // of w
  uint32_t vectors;  // of a batch of x
  uint32_t padded_vectors;
  uint32_t gathered;  // whether pairs of a batch of x and one of w are listed
  uint32_t batches_x;
  uint32_t batches_w;
};

struct DequantizeParams {
  uint32_t units;  // of 32 numbers, in a group
  uint32_t size;   // numbers
  uint32_t global_given;
  uint32_t uses_given;
};
