// Tests kernels that lay out rows for a GPU, beside those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

const std::vector<int> kLengths{33, 257, 1000, 4096, 16384, 20000};

void expect_close(const array& got, const array& want, float tolerance = 1e-5f) {
  EXPECT_TRUE(allclose(got, want, tolerance, tolerance, /*equal_nan=*/true).item<bool>());
}

TEST(Rows, Softmax) {
  for (int length : kLengths) {
    array x = multiply(random::normal({3, length}), array(5.0f));
    const float infinity = std::numeric_limits<float>::infinity();
    x = where(greater(x, array(9.0f)), array(-infinity), x);
    eval(x);
    expect_close(softmax(x, -1), softmax(x, -1, false, Device::cpu));
    expect_close(logsumexp(x, -1, false), logsumexp(x, -1, false, Device::cpu));
    const array half = astype(x, float16);
    eval(half);
    expect_close(softmax(half, -1), softmax(half, -1, false, Device::cpu), 1e-3f);
  }
}

TEST(Rows, Normalization) {
  for (int length : kLengths) {
    const array x = add(random::normal({3, length}), array(2.0f));
    const array weight = random::normal({length}), bias = random::normal({length});
    eval(x, weight, bias);
    expect_close(fast::layer_norm(x, weight, bias, 1e-5f),
                 fast::layer_norm(x, weight, bias, 1e-5f, Device::cpu), 1e-4f);
    expect_close(fast::rms_norm(x, weight, 1e-5f), fast::rms_norm(x, weight, 1e-5f, Device::cpu),
                 1e-4f);
  }
}

void expect_same_places(const array& x, int axis) {
  eval(x);
  EXPECT_TRUE(array_equal(argmax(x, axis), argmax(x, axis, false, Device::cpu)).item<bool>());
  EXPECT_TRUE(array_equal(argmin(x, axis), argmin(x, axis, false, Device::cpu)).item<bool>());
}

TEST(Columns, PlacesOfExtremes) {
  for (const Shape& shape : {Shape{32, 16}, Shape{33, 70}, Shape{1000, 40}, Shape{3, 100, 33}}) {
    const int axis = static_cast<int>(shape.size()) - 2;
    const array ties = random::randint(0, 9, shape);
    for (const Dtype dtype : {int32, uint8, float32, bfloat16, complex64})
      expect_same_places(astype(ties, dtype), axis);
    expect_same_places(log(random::normal(shape)), axis);  // NaNs
  }
}

TEST(Rows, PlacesOfExtremes) {
  for (int length : {255, 256, 300, 65536, 200000}) {
    const array ties = random::randint(0, 50, {2, length});
    for (const Dtype dtype : {int32, uint8, float32, bfloat16, complex64}) {
      expect_same_places(astype(ties, dtype), -1);
    }
    const array floats = random::normal({2, length});
    expect_same_places(floats, -1);
    expect_same_places(log(floats), -1);  // NaNs
    expect_same_places(slice(floats, {0, 3}, {2, length}), -1);
  }
  expect_same_places(transpose(random::normal({300, 2, 5}), {1, 2, 0}), -1);
}

}  // namespace
}  // namespace mlx::core::test
