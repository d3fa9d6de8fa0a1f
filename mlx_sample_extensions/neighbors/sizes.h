// The parameters of the search kernel; included by the host and the kernel.
#pragma once

#if !defined(__METAL_VERSION__)
#include <cstdint>
#endif

struct NeighborSizes {
  int queries;
  int clouds;
  int dims;
  int k;
  float limit;  // the largest squared distance that counts
  float slack;  // for distances to boxes
};

// The position of a cloud's tree among those of all clouds; tree.h describes its parts.
struct CloudTree {
  int64_t boxes;   // among the coordinates
  int64_t leaves;  // likewise
  int starts;      // among the integers
  int order;       // likewise
  int inner;       // nodes above the leaves
  int stride;
};

// The points that a SIMD-group tests at a time, and the entries of its list of the nearest.
#define NEIGHBOR_LANES 32
// SIMD-groups of a threadgroup.
#define NEIGHBOR_SIMDGROUPS 4
// Up to so many coordinates, each number of them has its own kernel.
#define NEIGHBOR_FEW_DIMS 4
