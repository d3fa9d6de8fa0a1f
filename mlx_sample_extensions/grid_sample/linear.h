// The linear maps of which sampling and its derivatives consist. Arguments have one type and the
// shapes that the primitives need.
#pragma once

#include "grid_sample/grid_sample.h"

namespace mlx_sample {

// Samples pictures at points.
mx::array sample(const mx::array& x, const mx::array& grid, const Sampling& how, mx::Stream s);

// The adjoint: adds values at points into pictures of the given size.
mx::array spread(const mx::array& values, const mx::array& grid, const Sampling& how, int height,
                 int width, mx::Stream s);

// The derivative of the samples as the grid moves in direction `by`.
mx::array sample_moved(const mx::array& x, const mx::array& grid, const mx::array& by,
                       const Sampling& how, mx::Stream s);

// The derivative of the adjoint as the grid moves in direction `by`.
mx::array spread_moved(const mx::array& values, const mx::array& grid, const mx::array& by,
                       const Sampling& how, int height, int width, mx::Stream s);

// For each of the grid's coordinates, the sum over channels of values * their derivative of
// sample(x, grid).
mx::array grid_gradient(const mx::array& x, const mx::array& grid, const mx::array& values,
                        const Sampling& how, mx::Stream s);

// Both gradients of sample(x, grid).
std::vector<mx::array> sample_gradient(const mx::array& x, const mx::array& grid,
                                       const mx::array& cotangent, const Sampling& how,
                                       mx::Stream s);

}  // namespace mlx_sample
