// The parameters of the kernels of distances; included by the host and the kernels.
#pragma once

// The number of points of one matrix' rows, and of its columns.
struct DistanceSizes {
  int rows;
  int columns;
  int dims;
};

// Gradients are added up in blocks of rows and columns.
struct GradientSizes {
  int rows;
  int columns;
  int dims;
  int block_rows;
};

// The gradient of the rows' points, added up in chunks of columns.
struct RowGradientSizes {
  int rows;
  int columns;
  int dims;
  int chunk;
};

// The parts of one side's gradient.
struct PartSizes {
  int points;
  int dims;
  int count;
  int by_coordinates;
};

// Rows that a thread computes of its column.
#define DISTANCE_ROWS 8
// For gradients: columns of a block, rows of a tile, coordinates of a SIMD-group, and coordinates
// that it keeps in registers.
#define DISTANCE_COLUMNS 256
#define DISTANCE_TILE_ROWS 16
#define DISTANCE_GRADIENT_DIMS 32
#define DISTANCE_DIMS 4
// For the gradient of rows: threads of a threadgroup, and its rows and coordinates if there are
// more than a few of these.
#define DISTANCE_THREADS 256
#define DISTANCE_WIDE_ROWS 64
#define DISTANCE_WIDE_DIMS 64
// Up to so many coordinates, each number of them has its own kernel.
#define DISTANCE_FEW_DIMS 4

// Listed pairs of points.
struct PairedSizes {
  int pairs;
  int rows;  // of the gradient
  int dims;
};

// With so many coordinates or more, lanes process coordinates; with fewer, pairs or rows.
#define PAIRED_WIDE_DIMS 8
// Coordinates whose gradients a thread of listed pairs adds up at a time.
#define PAIRED_DIMS 8
// SIMD-groups of a threadgroup for listed pairs.
#define PAIRED_SIMDGROUPS 8
// Pairs that a SIMD-group computes at a time.
#define PAIRED_TOGETHER 4
