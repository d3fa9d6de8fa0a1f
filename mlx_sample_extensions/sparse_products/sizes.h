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

// The parameters of the kernels that compute tiles in threadgroups.
struct TileSizes {
  int entries;
  int matrices;
  int groups;
  int m;
  int c;
  int window;  // consecutive entries of a threadgroup, in their order by matrix
  int a_step;
  int b_step;
};

// A threadgroup's tile: each of its SIMD-groups has so many rows, and each lane two columns.
#define TILE_GROUPS 8
#define TILE_ROWS 8  // of a SIMD-group
#define TILE_COLUMNS 64
#define TILE_DEPTH 32  // terms that are in threadgroup memory at once
