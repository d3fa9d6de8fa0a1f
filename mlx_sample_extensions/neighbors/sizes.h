// What the host tells the kernel of searches; included by both.
#pragma once

#if !defined(__METAL_VERSION__)
#include <cstdint>
#endif

struct NeighborSizes {
  int queries;
  int clouds;
  int dims;
  int k;
  float limit;  // the largest squared distance of interest
  float slack;  // for distances to boxes
};

// Where a cloud's tree lies among those of all clouds; tree.h says what it is made of.
struct CloudTree {
  int64_t boxes;   // among the coordinates
  int64_t leaves;  // likewise
  int starts;      // among the numbers
  int order;       // likewise
  int inner;       // nodes above the leaves
  int stride;
};

// Points that a SIMD-group looks at together, and entries of its list of the nearest.
#define NEIGHBOR_LANES 32
// SIMD-groups of a threadgroup.
#define NEIGHBOR_SIMDGROUPS 4
// Up to so many coordinates make a kernel of their own.
#define NEIGHBOR_FEW_DIMS 4
