// A convolution cut into pieces that threads compute on their own.
#pragma once

#include "mlx/backend/host/convolution.h"

namespace mlx::core::cpu {

// Some images, or some rows of one image. Rows are the elements along the first spatial axis.
struct ConvolutionPiece {
  ConvolutionGeometry geometry;
  size_t image;
  int input_row, output_row;

  // Whether no kernel meets an element of the input.
  bool is_empty() const { return geometry.axes[0].input <= 0 || geometry.axes[0].output <= 0; }
};

// Pieces of the result for as many threads; of its sum if the part is Weight.
std::vector<ConvolutionPiece> cut(ConvolutionPart part, const ConvolutionGeometry& geometry,
                                  size_t threads);

}  // namespace mlx::core::cpu
