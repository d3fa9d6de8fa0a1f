// What the host tells the kernels of sums of indexed products; included by both.
#pragma once

struct ProductSizes {
  int groups;
  int m;  // sizes of a matrix, whichever way it lies
  int c;
  int parts;   // of the order of the entries
  int bundle;  // groups that a SIMD-group takes; several only where their tiles fit into one
  // Distances of indices in the units of 4 bytes, or 0 where entry t uses row t.
  int a_step;
  int b_step;
  int o_step;
};

// A SIMD-group has a tile of so many columns of a matrix and so many of its terms, or so many sums
// of outer products. It goes through the entries in blocks, with so many sums of 32 columns in
// registers.
#define SPARSE_COLUMNS 64
#define SPARSE_DEPTH 64
#define SPARSE_OUTER_SUMS 2048
#define SPARSE_ENTRIES 32
#define SPARSE_VECTORS 8
