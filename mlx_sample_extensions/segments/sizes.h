// What the host tells the kernels of segments; included by both.
#pragma once

struct SegmentSizes {
  int segments;
  int rows;  // of all segments together
  int columns;
  int chunk;  // rows that a thread takes
  int chunks;
};

// The most columns that a thread takes.
#define SEGMENT_WIDTH 4
