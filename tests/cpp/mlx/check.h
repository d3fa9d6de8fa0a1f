// Comparisons of arrays in tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "mlx/array.h"

namespace mlx::core::test {

// Returns all elements as doubles, in row-major order (the real parts of complex numbers).
std::vector<double> values(const array& a);

// Compares shapes, and elements within `tolerance` relative to the largest magnitude.
void expect_close(const array& actual, const array& expected, double tolerance = 1e-5);

// The message of the std::invalid_argument that f throws.
std::string message_of(const std::function<void()>& f);

// An array of fixed pseudo-random numbers in [low, high).
array sample(const Shape& shape, double low = -1, double high = 1, int seed = 0);

}  // namespace mlx::core::test
