// What the host tells the kernels of sums of indexed products; included by both.
#pragma once

struct ProductSizes {
  int groups;
  int m;  // sizes of a matrix, whichever way it lies
  int c;
  int parts;  // of the order of the entries
  // Distances of indices in the units of 4 bytes, or 0 where entry t uses row t.
  int a_step;
  int b_step;
  int o_step;
};

// A SIMD-group computes so many columns, for so many vectors at once, at such a depth at once.
#define SPARSE_COLUMNS 32
#define SPARSE_VECTORS 3
#define SPARSE_DEPTH 128
// And so many rows of outer products.
#define SPARSE_OUTER_ROWS 8
