// What the host tells the kernels of distances; included by both.
#pragma once

// The points of one matrix' rows and those of its columns.
struct DistanceSizes {
  int rows;
  int columns;
  int dims;
};

// Rows that a thread computes of its column.
#define DISTANCE_ROWS 8
// Coordinates whose gradients a thread adds up at a time.
#define DISTANCE_DIMS 8
// SIMD-groups of a threadgroup.
#define DISTANCE_SIMDGROUPS 8

// Listed pairs of points.
struct PairedSizes {
  int pairs;
  int rows;  // of the gradient
  int dims;
};

// From so many coordinates on, a pair or a row has a SIMD-group of its own; with fewer, a thread.
#define PAIRED_WIDE_DIMS 24
