// Parameters of kernels for quantised arrays; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

struct MatvecParams {
  uint32_t columns;  // elements of a row of w, and of a vector
  uint32_t rows;     // of w
  uint32_t vectors;  // of a batch of x
  uint32_t padded_vectors;
  uint32_t gathered;  // whether pairs of a batch of x and one of w are given
  uint32_t batches_x;
  uint32_t batches_w;
};

// A threadgroup's rows of a product with a few vectors on a GPU, and most of its threads.
enum { kFewVectorsMostThreads = 512, kFewVectorsRows = 16, kFewVectors = 8 };

// With one vector, four lanes read a block of a row at once: twice 16 bytes each.
enum { kBlockBits = 1024 };

struct VecmatParams {
  uint32_t columns;       // elements of a row of w
  uint32_t rows;          // of w, and elements of a vector
  uint32_t rows_of_part;  // that a thread adds up
  uint32_t parts;
  uint32_t vectors;   // of a batch of x
  uint32_t gathered;  // as above
  uint32_t batches_x;
  uint32_t batches_w;
};

struct DequantizeParams {
  uint32_t units;  // of 32 elements, in a group
  uint32_t size;   // elements
  uint32_t global_given;
  uint32_t uses_given;
};
