// The parameters of the kernels of grid_sample; included by the host and the kernels.
#pragma once

struct GridSizes {
  int height;  // of the pictures
  int width;
  int channels;
  int points;     // of the grid, for each picture
  unsigned none;  // the number of all pixels, which marks "no pixel"
  int taps;       // of a point
  int row;        // threads for the channels of a point or pixel, rounded up
  int blocks;     // of channels, in the points' gradients
};

// A point's contribution to a pixel of its picture.
struct GridShare {
  int tap;  // index among all taps of the picture
  float weight;
};
