// What the host tells the kernels of sums of indexed products; included by both.
#pragma once

struct ProductSizes {
  int entries;  // T
  int groups;   // G
  int m;        // rows of a matrix
  int c;        // columns of a matrix
  int parts;    // of the order of the entries
  int pieces;   // of a part's work
};

// Columns and vectors of a tile of a matrix product, and the depth that is done at a time.
#define SPARSE_TILE_COLUMNS 32
#define SPARSE_TILE_VECTORS 3
#define SPARSE_TILE_DEPTH 128
