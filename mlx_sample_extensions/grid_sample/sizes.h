// What the host tells the kernels of grid_sample; included by both.
#pragma once

struct GridSizes {
  int height;  // of the pictures
  int width;
  int channels;
  int points;  // of the grid, for each picture
};

// A threadgroup of kernels that give a SIMD-group to each point.
#define GRID_SAMPLE_SIMDGROUPS 8
