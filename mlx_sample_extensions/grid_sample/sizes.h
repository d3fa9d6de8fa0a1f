// What the host tells the kernels of grid_sample; included by both.
#pragma once

struct GridSizes {
  int height;  // of the pictures
  int width;
  int channels;
  int points;     // of the grid, for each picture
  unsigned none;  // pixels of all pictures; instead of a pixel's number: there is none
  int taps;       // of a point
  int row;        // threads for the channels of a point or pixel: as many or a few more
  int blocks;     // of channels, in the points' gradients
};

// What a pixel gets from a point of its picture.
struct GridShare {
  int tap;  // of all of the picture's points
  float weight;
};
