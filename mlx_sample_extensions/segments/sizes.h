// The parameters of the kernels of segments; included by the host and the kernels.
#pragma once

struct SegmentSizes {
  int segments;
  int rows;  // of all segments
  int columns;
  int chunk;  // rows of a thread
  int chunks;
};

// The most columns of a thread.
#define SEGMENT_WIDTH 4
