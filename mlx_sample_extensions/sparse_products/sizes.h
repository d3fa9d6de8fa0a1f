// The parameters of the kernels of sums of indexed products; included by the host and the kernels.
#pragma once

struct ProductSizes {
  int groups;
  int m;  // sizes of a matrix, transposed or not
  int c;
  int parts;   // in the order of the entries
  int bundle;  // groups of a SIMD-group; several only if their tiles fit into one
  // Strides of the indices in 4-byte words, or 0 if entry t uses row t.
  int a_step;
  int b_step;
  int o_step;
};

// A SIMD-group has a tile of so many columns and terms of a matrix, or blocks of so many vectors
// for outer products. It processes the entries in blocks, with so many sums of 32 columns in
// registers.
#define SPARSE_COLUMNS 64
#define SPARSE_DEPTH 64
#define SPARSE_OUTER_ROWS 128
#define SPARSE_OUTER_ENTRIES 40
#define SPARSE_ENTRIES 32
#define SPARSE_VECTORS 8
