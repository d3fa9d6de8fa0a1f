// Tests products of matrices on a device with memory of its own, beside the host's BLAS.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "metal/driver.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

array random_matrices(Shape shape, Dtype dtype) {
  if (dtype != complex64) return astype(random::normal(shape), dtype);
  const array i(complex64_t(0, 1));
  return add(random::normal(shape), multiply(i, random::normal(shape)));
}

array transposed(const array& a) { return swapaxes(a, -1, -2); }

// The largest difference, relative to the size of sums of `terms` products.
float difference(const array& got, const array& want, int terms) {
  const Dtype wide = got.dtype() == complex64 ? complex64 : float32;
  const array apart = abs(subtract(astype(got, wide), astype(want, wide)));
  return max(apart).item<float>() / static_cast<float>(terms + 1);
}

float tolerance(Dtype dtype) {
  return dtype == bfloat16 ? 2e-2f : dtype == float16 ? 3e-3f : 1e-5f;
}

class Products : public ::testing::TestWithParam<Dtype> {
 protected:
  void expect_alike(const array& a, const array& b) {
    eval(a, b);
    const auto downloads = ::metal::transfer_statistics().downloads;
    const array got = matmul(a, b);
    eval(got);
    EXPECT_EQ(::metal::transfer_statistics().downloads, downloads);
    EXPECT_LT(difference(got, matmul(a, b, Device::cpu), a.shape(-1)), tolerance(GetParam()));
  }
};

INSTANTIATE_TEST_SUITE_P(Types, Products, ::testing::Values(float32, float16, bfloat16, complex64),
                         [](const auto& info) { return std::string(dtype_to_string(info.param)); });

TEST_P(Products, OfAllSizes) {
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {1, 1, 1}, {1, 70, 33}, {70, 1, 5}, {64, 64, 16}, {65, 130, 17}, {3, 5, 200}}) {
    expect_alike(random_matrices({m, k}, GetParam()), random_matrices({k, n}, GetParam()));
  }
}

TEST_P(Products, OfTransposedAndStridedMatrices) {
  const Dtype dtype = GetParam();
  const array a = random_matrices({40, 70}, dtype), b = random_matrices({50, 70}, dtype);
  expect_alike(a, transposed(b));
  expect_alike(transposed(a), random_matrices({40, 9}, dtype));
  expect_alike(slice(a, {3, 1}, {40, 61}), transposed(slice(b, {0, 10}, {50, 70})));
  expect_alike(slice(a, {0, 0}, {40, 70}, {2, 3}), random_matrices({24, 6}, dtype));
}

TEST_P(Products, OfBatches) {
  const Dtype dtype = GetParam();
  const array a = random_matrices({2, 3, 4, 20, 8}, dtype);
  expect_alike(a, random_matrices({8, 5}, dtype));
  expect_alike(a, random_matrices({3, 1, 8, 5}, dtype));
  expect_alike(a, transposed(random_matrices({2, 1, 4, 5, 8}, dtype)));
  expect_alike(transpose(random_matrices({2, 7, 3, 8}, dtype), {0, 2, 1, 3}),
               random_matrices({2, 3, 8, 5}, dtype));
}

TEST_P(Products, WithASum) {
  const Dtype dtype = GetParam();
  const array a = random_matrices({20, 30}, dtype), b = random_matrices({30, 40}, dtype);
  for (const array& c : {random_matrices({20, 40}, dtype), random_matrices({40}, dtype)}) {
    const array got = addmm(c, a, b, 0.5f, 2.0f);
    EXPECT_LT(difference(got, addmm(c, a, b, 0.5f, 2.0f, Device::cpu), 30), tolerance(dtype));
  }
}

TEST(LargeProducts, HaveLargeTiles) {
  const array a = random::normal({1500, 40}), b = random::normal({40, 1500});
  EXPECT_LT(difference(matmul(a, b), matmul(a, b, Device::cpu), 40), 1e-5f);
}

}  // namespace
}  // namespace mlx::core::test
