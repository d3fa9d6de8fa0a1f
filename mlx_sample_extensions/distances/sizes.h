// What the host tells the kernels of distances; included by both.
#pragma once

// The points of one matrix' rows and those of its columns.
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

// The parts of one side's gradient.
struct PartSizes {
  int points;
  int dims;
  int count;
  int by_coordinates;
};

// Rows that a thread computes of its column.
#define DISTANCE_ROWS 8
// Of gradients: columns of a block, rows of a tile of it, coordinates that a SIMD-group takes and
// those that it has in registers.
#define DISTANCE_COLUMNS 256
#define DISTANCE_TILE_ROWS 16
#define DISTANCE_GRADIENT_DIMS 32
#define DISTANCE_DIMS 4
// Up to so many coordinates make a kernel of their own.
#define DISTANCE_FEW_DIMS 4

// Listed pairs of points.
struct PairedSizes {
  int pairs;
  int rows;  // of the gradient
  int dims;
};

// From so many coordinates on, lanes are coordinates; with fewer, they are pairs or rows.
#define PAIRED_WIDE_DIMS 8
// Coordinates whose gradients a thread of listed pairs adds up at a time.
#define PAIRED_DIMS 8
// SIMD-groups of a threadgroup for listed pairs.
#define PAIRED_SIMDGROUPS 8
// Pairs that a SIMD-group computes together.
#define PAIRED_TOGETHER 4
