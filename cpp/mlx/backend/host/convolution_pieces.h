// Splits a convolution into pieces that threads compute independently.
#pragma once

#include "mlx/backend/host/convolution.h"

namespace mlx::core::cpu {

// Some images, or some rows of one image. Rows are the elements along the first spatial axis.
struct ConvolutionPiece {
  ConvolutionGeometry geometry;
  size_t image;
  int input_row, output_row;

  // Whether no kernel reaches an element of the input.
  bool is_empty() const { return geometry.axes[0].input <= 0 || geometry.axes[0].output <= 0; }
};

// Returns pieces of the result for the given number of threads. If the part is Weight, their
// results are summed.
std::vector<ConvolutionPiece> cut(ConvolutionPart part, const ConvolutionGeometry& geometry,
                                  size_t threads);

}  // namespace mlx::core::cpu
