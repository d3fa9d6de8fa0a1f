// Splits a convolution into pieces that threads compute independently.
#include "mlx/backend/host/convolution_pieces.h"

#include <algorithm>

#include "mlx/errors.h"

namespace mlx::core::cpu {

namespace {

constexpr double kMinWork = 1 << 20;    // multiplications: some ten microseconds
constexpr size_t kPiecesPerThread = 4;  // several, so that no thread waits long for the last piece

int divided_up(int value, int unit) { return (value + unit - 1) / unit; }

size_t product_of(const std::vector<ConvolutionAxis>& axes, int ConvolutionAxis::* extent) {
  size_t product = 1;
  for (const auto& axis : axes) product *= static_cast<size_t>(axis.*extent);
  return product;
}

// Rows [first, last) of the output of one image, with the rows of the input that they need.
ConvolutionPiece output_rows(const ConvolutionGeometry& whole, size_t image, int first, int last) {
  ConvolutionPiece piece{whole, image, 0, first};
  auto& axis = piece.geometry.axes[0];
  const int from = first * axis.stride - axis.low;
  const int to = (last - 1) * axis.stride - axis.low + axis.reach() + 1;
  const int start = std::clamp(from, 0, axis.input), stop = std::clamp(to, 0, axis.input);
  piece.geometry.images = 1;
  piece.input_row = start;
  axis.low = start - from;
  axis.input = stop - start;
  axis.output = last - first;
  return piece;
}

// Rows [first, last) of the input's cotangent, with the rows of the output's that they need.
ConvolutionPiece input_rows(const ConvolutionGeometry& whole, size_t image, int first, int last) {
  ConvolutionPiece piece{whole, image, first, 0};
  auto& axis = piece.geometry.axes[0];
  // The start must not be behind the first row, which may lie in a gap between kernels.
  const int start = std::min(divided_up(std::max(0, first + axis.low - axis.reach()), axis.stride),
                             (first + axis.low) / axis.stride);
  const int stop = std::min(axis.output, (last - 1 + axis.low) / axis.stride + 1);
  piece.geometry.images = 1;
  piece.output_row = start;
  axis.low += first - start * axis.stride;
  axis.input = last - first;
  axis.output = stop - start;
  return piece;
}

std::vector<ConvolutionPiece> cut_images(const ConvolutionGeometry& whole, int images) {
  std::vector<ConvolutionPiece> pieces;
  for (int first = 0; first < whole.images; first += images) {
    pieces.push_back({whole, static_cast<size_t>(first), 0, 0});
    pieces.back().geometry.images = std::min(images, whole.images - first);
  }
  return pieces;
}

std::vector<ConvolutionPiece> cut_rows(ConvolutionPart part, const ConvolutionGeometry& whole,
                                       int bands) {
  const auto& axis = whole.axes[0];
  const bool of_input = part == ConvolutionPart::Input;
  const int rows = of_input ? axis.input : axis.output;
  int step = divided_up(rows, bands), shift = 0;
  if (of_input) {
    // Bands begin at a multiple of the stride: then no kernel ends in front of its band.
    step = divided_up(step, axis.stride) * axis.stride;
    shift = axis.low % axis.stride;
  }
  std::vector<ConvolutionPiece> pieces;
  for (int image = 0; image < whole.images; ++image) {
    for (int first = 0, last; first < rows; first = last) {
      last = std::min(rows, (first + shift) / step * step + step - shift);
      const auto number = static_cast<size_t>(image);
      pieces.push_back(of_input ? input_rows(whole, number, first, last)
                                : output_rows(whole, number, first, last));
    }
  }
  return pieces;
}

}  // namespace

ConvolutionGeometry::ConvolutionGeometry(const Shape& input, const Shape& weight,
                                         const Shape& output, const ConvolutionWindow& window)
    : images(input.front()),
      groups(window.groups),
      inputs(weight.back()),
      outputs(weight.front() / window.groups) {
  for (size_t i = 0; i < window.stride.size(); ++i) {
    axes.push_back({input[i + 1], weight[i + 1], output[i + 1], window.stride[i],
                    window.dilation[i], window.low[i]});
  }
}

size_t ConvolutionGeometry::input_size() const {
  return product_of(axes, &ConvolutionAxis::input) * static_cast<size_t>(groups) *
         static_cast<size_t>(inputs);
}

size_t ConvolutionGeometry::output_size() const {
  return product_of(axes, &ConvolutionAxis::output) * static_cast<size_t>(groups) *
         static_cast<size_t>(outputs);
}

double ConvolutionGeometry::multiplications() const {
  return static_cast<double>(images) * static_cast<double>(output_size()) *
         static_cast<double>(product_of(axes, &ConvolutionAxis::kernel)) * inputs;
}

std::vector<ConvolutionPiece> cut(ConvolutionPart part, const ConvolutionGeometry& geometry,
                                  size_t threads) {
  size_t wanted = threads;
  // Each piece of a sum needs memory for the whole sum.
  if (threads > 1 && part != ConvolutionPart::Weight) wanted *= kPiecesPerThread;
  const double most = std::max(1.0, geometry.multiplications() / kMinWork);
  const int count = static_cast<int>(std::min(static_cast<double>(wanted), most));
  if (count <= geometry.images) return cut_images(geometry, divided_up(geometry.images, count));
  return cut_rows(part, geometry, divided_up(count, geometry.images));
}

}  // namespace mlx::core::cpu
