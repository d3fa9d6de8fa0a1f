// Tests products of matrices on a device with memory of its own, beside the host's BLAS.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <utility>
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

constexpr Dtype kFloats[] = {float32, float16, bfloat16};

TEST(LargeProducts, HaveLargeTiles) {
  for (const Dtype dtype : kFloats) {
    const array a = random_matrices({1500, 43}, dtype), b = random_matrices({43, 1500}, dtype);
    const array c = random_matrices({1500, 43}, dtype), d = random_matrices({43, 1500}, dtype);
    for (const auto& [left, right] : std::vector<std::pair<array, array>>{
             {a, b}, {a, transposed(c)}, {transposed(d), b}, {transposed(d), transposed(c)}}) {
      const array want = matmul(left, right, Device::cpu);
      EXPECT_LT(difference(matmul(left, right), want, 43), tolerance(dtype));
    }
  }
}

TEST(ChosenProducts, AreThoseOfTheHost) {
  const array lhs({2, 0, -1, 1, 0}), rhs({0, 3, 1, -1, 2});
  for (const Dtype dtype : kFloats) {
    for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{
             {1, 64, 72}, {3, 41, 130}, {150, 33, 7}, {5, 0, 4}}) {
      const array a = random_matrices({3, m, k}, dtype), b = random_matrices({4, k, n}, dtype);
      const array c = transposed(random_matrices({4, n, k}, dtype));
      for (const array& right : {b, c, slice(c, {0, 0, 0}, {4, k, n - 1})}) {
        const array want = gather_mm(a, right, lhs, rhs, false, Device::cpu);
        EXPECT_LT(difference(gather_mm(a, right, lhs, rhs), want, k), tolerance(dtype));
      }
    }
  }
}

// What lies beside a segment does not count, even if it is not a number.
TEST(SegmentsOfProducts, EndAnywhere) {
  const array ends({3u, 17u, 17u, 17u, 20u, 29u}, {3, 2});
  for (const Dtype dtype : kFloats) {
    const array columns = arange(29);
    const array counts = logical_and(greater_equal(columns, array(3)), less(columns, array(17)));
    const array nan(std::numeric_limits<float>::quiet_NaN(), dtype);
    const array a = where(counts, random_matrices({40, 29}, dtype), nan);
    const array b = random_matrices({29, 50}, dtype);
    for (const array& left : {a, transposed(contiguous(transposed(a)))}) {
      for (const array& right : {b, transposed(contiguous(transposed(b)))}) {
        const array got = segmented_mm(left, right, ends);
        const array want = segmented_mm(left, right, ends, Device::cpu);
        for (const int segment : {0, 1}) {
          EXPECT_LT(difference(take(got, segment, 0), take(want, segment, 0), 29),
                    tolerance(dtype));
        }
        EXPECT_TRUE(all(isnan(take(got, 2, 0))).item<bool>());
      }
    }
  }
}

}  // namespace
}  // namespace mlx::core::test
