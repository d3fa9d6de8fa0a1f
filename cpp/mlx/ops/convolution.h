// Convolutions: inputs (N, spatial..., C), weights (O, spatial..., C / groups), results (N,
// spatial..., O). Kernels are not flipped by default: these are cross-correlations.
#pragma once

#include <string>

#include "mlx/ops/common.h"

namespace mlx::core {

// A convolution over one to three spatial axes. The lists have an element for each of them, or one
// element for all, or none for the default. The input's elements are input_dilation apart; then
// padding adds zeros around them, or drops elements if it is negative.
array conv_general(const array& input, const array& weight, const std::vector<int>& stride,
                   const std::vector<int>& padding_lo, const std::vector<int>& padding_hi,
                   const std::vector<int>& kernel_dilation = {},
                   const std::vector<int>& input_dilation = {}, int groups = 1, bool flip = false,
                   StreamOrDevice s = {});
// The same padding at both ends.
inline array conv_general(const array& input, const array& weight,
                          const std::vector<int>& stride = {}, const std::vector<int>& padding = {},
                          const std::vector<int>& kernel_dilation = {},
                          const std::vector<int>& input_dilation = {}, int groups = 1,
                          bool flip = false, StreamOrDevice s = {}) {
  return conv_general(input, weight, stride, padding, padding, kernel_dilation, input_dilation,
                      groups, flip, s);
}

using IntPair = std::pair<int, int>;
using IntTriple = std::tuple<int, int, int>;

array conv1d(const array& input, const array& weight, int stride = 1, int padding = 0,
             int dilation = 1, int groups = 1, StreamOrDevice s = {});
array conv2d(const array& input, const array& weight, const IntPair& stride = {1, 1},
             const IntPair& padding = {0, 0}, const IntPair& dilation = {1, 1}, int groups = 1,
             StreamOrDevice s = {});
array conv3d(const array& input, const array& weight, const IntTriple& stride = {1, 1, 1},
             const IntTriple& padding = {0, 0, 0}, const IntTriple& dilation = {1, 1, 1},
             int groups = 1, StreamOrDevice s = {});

// The transpose of a convolution: the input's elements are `stride` apart, `padding` elements are
// dropped at both ends, and output_padding elements are added at the high end.
array conv_transpose1d(const array& input, const array& weight, int stride = 1, int padding = 0,
                       int dilation = 1, int output_padding = 0, int groups = 1,
                       StreamOrDevice s = {});
array conv_transpose2d(const array& input, const array& weight, const IntPair& stride = {1, 1},
                       const IntPair& padding = {0, 0}, const IntPair& dilation = {1, 1},
                       const IntPair& output_padding = {0, 0}, int groups = 1,
                       StreamOrDevice s = {});
array conv_transpose3d(const array& input, const array& weight, const IntTriple& stride = {1, 1, 1},
                       const IntTriple& padding = {0, 0, 0}, const IntTriple& dilation = {1, 1, 1},
                       const IntTriple& output_padding = {0, 0, 0}, int groups = 1,
                       StreamOrDevice s = {});

// Convolves two vectors, as NumPy does: mode is full, same or valid.
array convolve(const array& a, const array& v, const std::string& mode = "full",
               StreamOrDevice s = {});

namespace detail {
// The implementation of conv_general and the others. `op` is the name in errors; `spatial` is the
// number of spatial axes, or 0 to take it from the input.
array convolution(const char* op, int spatial, const array& input, const array& weight,
                  const std::vector<int>& stride, const std::vector<int>& padding_lo,
                  const std::vector<int>& padding_hi, const std::vector<int>& kernel_dilation,
                  const std::vector<int>& input_dilation, int groups, bool flip, StreamOrDevice s);
array transposed_convolution(const char* op, int spatial, const array& input, const array& weight,
                             const std::vector<int>& stride, const std::vector<int>& padding,
                             const std::vector<int>& dilation,
                             const std::vector<int>& output_padding, int groups, StreamOrDevice s);
}  // namespace detail

}  // namespace mlx::core
