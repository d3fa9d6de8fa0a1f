// Values of operations that are composed of others.
#include <gtest/gtest.h>

#include <cmath>

#include "mlx/check.h"
#include "mlx/fast.h"
#include "mlx/fft.h"
#include "mlx/ops.h"

namespace mlx::core::test {

using Values = std::vector<double>;

TEST(OperationValues, Einsum) {
  array a = sample({2, 3, 4}), b = sample({4, 3, 5}, -1, 1, 1), m = sample({3, 3}, -1, 1, 2);
  expect_close(einsum("ii->i", {m}), diagonal(m));
  expect_close(einsum("ii", {m}), trace(m));
  expect_close(einsum("ij->ji", {m}), transpose(m));
  expect_close(einsum("ij,kj", {m, m}), matmul(m, transpose(m)));
  expect_close(einsum("ijk,kjl->il", {a, b}), tensordot(a, b, {1, 2}, {1, 0}));
  expect_close(einsum("...jk,...jk->...j", {a, a}), sum(square(a), -1));
  expect_close(einsum("i,j,k->ijk", {arange(2.0), arange(3.0), arange(4.0)}),
               multiply(reshape(arange(2.0), {2, 1, 1}), outer(arange(3.0), arange(4.0))));
  expect_close(einsum("ij,jk,kl->il", {m, m, m}), matmul(matmul(m, m), m));
  EXPECT_EQ(values(einsum("ij,j->i", {reshape(arange(4), {2, 2}), arange(2)})), (Values{1, 3}));
  EXPECT_NE(message_of([&] { einsum("ij,jk->ik", {m}); }).find("[einsum]"), std::string::npos);
  EXPECT_NE(message_of([&] { einsum("ij->iz", {m}); }).find("[einsum]"), std::string::npos);
  auto path = einsum_path("ij,jk,kl->il", {zeros({2, 9}), zeros({9, 3}), zeros({3, 2})}).first;
  EXPECT_EQ(path.size(), 2u);
}

TEST(OperationValues, Searching) {
  array sorted({1.0f, 2.0f, 2.0f, 5.0f});
  array wanted({0.0f, 2.0f, 3.0f, 5.0f, 9.0f, NAN});
  EXPECT_EQ(values(searchsorted(sorted, wanted)), (Values{0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(values(searchsorted(sorted, wanted, true)), (Values{0, 3, 3, 4, 4, 4}));
  EXPECT_EQ(values(searchsorted(array({7}), array({6, 7, 8}))), (Values{0, 0, 1}));
}

TEST(OperationValues, Statistics) {
  array x({3.0f, 1.0f, 2.0f, 8.0f, 4.0f, 4.0f}, {2, 3});
  EXPECT_EQ(values(median(x, 1)), (Values{2, 4}));
  EXPECT_EQ(values(median(x, 0)), (Values{5.5, 2.5, 3}));
  EXPECT_EQ(values(median(x, false)), (Values{3.5}));
  EXPECT_EQ(values(count_nonzero(x, false)), (Values{6}));
  EXPECT_FLOAT_EQ(mean(full({70000}, 2.0f, float16), false).item<float16_t>(), 2.0f);
  EXPECT_FLOAT_EQ(var(x, false, 1).item<float>(), 5.8666668f);
}

TEST(OperationValues, Padding) {
  array x({1, 2, 3});
  EXPECT_EQ(values(pad(x, std::pair{1, 2}, array(9))), (Values{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(values(pad(x, std::pair{1, 2}, array(0), "edge")), (Values{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(values(pad(x, std::pair{2, 3}, array(0), "reflect")), (Values{3, 2, 1, 2, 3, 2, 1, 2}));
  EXPECT_EQ(values(pad(x, std::pair{2, 4}, array(0), "symmetric")),
            (Values{2, 1, 1, 2, 3, 3, 2, 1, 1}));
}

TEST(OperationValues, RepeatingAndRolling) {
  array x = reshape(arange(4), {2, 2});
  EXPECT_EQ(values(tile(x, {2})), (Values{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(repeat(x, 2, 0)), (Values{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(values(repeat(x, 2)), (Values{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(roll(arange(5), 2)), (Values{3, 4, 0, 1, 2}));
  EXPECT_EQ(values(roll(x, Shape{1, 1}, std::vector<int>{0, 1})), (Values{3, 2, 1, 0}));
  EXPECT_EQ(values(flip(x)), (Values{3, 2, 1, 0}));
  auto grid = meshgrid({arange(2), arange(3)});
  EXPECT_EQ(values(grid[0]), (Values{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(values(kron(array({1, 2}), array({1, 10}))), (Values{1, 10, 2, 20}));
}

TEST(OperationValues, Masks) {
  array mask({true, false, true, true}, {2, 2});
  EXPECT_EQ(values(masked_scatter(zeros({2, 2}, int32), mask, array({5, 6, 7}))),
            (Values{5, 0, 6, 7}));
  array rows({true, false});
  EXPECT_EQ(values(masked_scatter(zeros({2, 2}, int32), rows, array({5, 6}))),
            (Values{5, 6, 0, 0}));
  EXPECT_EQ(values(clip(arange(5), array(1), array(3))), (Values{1, 1, 2, 3, 3}));
}

TEST(OperationValues, FormsOfTransforms) {
  using fft::FFTNorm;
  array a = sample({3, 4, 8});
  const array all = fft::fftn(a, std::nullopt, std::nullopt);
  expect_close(fft::fftn(a), all);
  expect_close(fft::fftn(a, Device::cpu), all);
  expect_close(fft::fftn(a, {0, 1, 2}), all);
  expect_close(fft::fftn(a, {0}), fft::fft(a, 0));
  expect_close(fft::fftn(a, {4, 8}, {1, 2}), fft::fft2(a));
  expect_close(fft::ifftn(all, {0, 1, 2}, FFTNorm::Backward, Device::cpu), astype(a, complex64));
  expect_close(fft::irfftn(fft::rfftn(a, {1, 2}, FFTNorm::Ortho), {4, 8}, {1, 2}, FFTNorm::Ortho),
               a);
}

TEST(OperationValues, AttentionTakesAMaskWithoutAMode) {
  array q = sample({1, 2, 4, 8}), mask = sample({4, 4}, -1, 1, 1);
  expect_close(fast::scaled_dot_product_attention(q, q, q, 0.5f, "", mask),
               fast::scaled_dot_product_attention(q, q, q, 0.5f, "array", mask));
}

TEST(OperationValues, SlicesCombinedWithAnUpdate) {
  const array a = reshape(arange(6), {2, 3});
  const array update = array({10, 1});
  expect_close(slice_update_add(a, update, {0, 1}, {2, 3}), array({0, 11, 3, 3, 14, 6}, {2, 3}));
  expect_close(slice_update_prod(a, update, {0, 0}, {2, 3}, {1, 2}),
               array({0, 1, 2, 30, 4, 5}, {2, 3}));
  expect_close(slice_update_max(a, array(3), {0, 0}, {1, 3}), array({3, 3, 3, 3, 4, 5}, {2, 3}));
  expect_close(slice_update_min(a, array(3.5f), {1, 0}, {2, 3}), array({0, 1, 2, 3, 3, 3}, {2, 3}));
}

TEST(OperationValues, MatricesAreTransposedInTheLastAxes) {
  EXPECT_EQ(matrix_transpose(zeros({2, 3, 4})).shape(), (Shape{2, 4, 3}));
  EXPECT_EQ(message_of([] { matrix_transpose(zeros({3})); }),
            "[matrix_transpose] An array of at least 2 dimensions is needed, not of 1.");
}

TEST(OperationValues, ScatterWantsAnIndexArrayForEachAxis) {
  array a = zeros({2, 3}), i({0, 1});
  struct Case {
    std::vector<array> indices;
    std::vector<int> axes;
    std::string counts;
  };
  for (const Case& c : {Case{{i, i, i}, {0, 1, 2}, "3 index arrays for 3 axes"},
                        Case{{i, i, i}, {0, 1, 1}, "3 index arrays for 3 axes"},
                        Case{{i, i}, {0}, "2 index arrays for 1 axes"},
                        Case{{i}, {0, 1}, "1 index arrays for 2 axes"}}) {
    const std::string rest = "Got " + c.counts + " of an array with 2 dimensions.";
    EXPECT_EQ(message_of([&] { scatter(a, c.indices, ones({2, 1, 1}), c.axes); }),
              "[scatter] " + rest);
    EXPECT_EQ(message_of([&] { scatter_max(a, c.indices, ones({2, 1, 1}), c.axes); }),
              "[scatter_max] " + rest);
  }
}

TEST(OperationValues, IntegerDivision) {
  array a({7, -7, 7, -7}), b({3, 3, -3, -3});
  EXPECT_EQ(values(floor_divide(a, b)), (Values{2, -3, -3, 2}));
  EXPECT_EQ(values(remainder(a, b)), (Values{1, 2, -2, -1}));
  EXPECT_EQ(values(floor_divide(array({7.5f, -7.5f}), array(2.0f))), (Values{3, -4}));
}

TEST(OperationValues, SpecialValues) {
  array x({1.0f, NAN, INFINITY, -INFINITY});
  EXPECT_EQ(values(isnan(x)), (Values{0, 1, 0, 0}));
  EXPECT_EQ(values(isfinite(x)), (Values{1, 0, 0, 0}));
  EXPECT_EQ(values(nan_to_num(x, 7.0f, 8.0f, -9.0f)), (Values{1, 7, 8, -9}));
  EXPECT_TRUE(allclose(x, x, 1e-5, 1e-8, true).item<bool>());
  EXPECT_FALSE(allclose(x, x).item<bool>());
  EXPECT_TRUE(array_equal(x, x, true).item<bool>());
}

TEST(OperationValues, ZeroSizeArrays) {
  array empty = zeros({0, 3});
  EXPECT_EQ(values(sum(empty, 0)), (Values{0, 0, 0}));
  EXPECT_EQ(values(prod(empty, 0)), (Values{1, 1, 1}));
  EXPECT_EQ(values(all(empty, 0)), (Values{1, 1, 1}));
  EXPECT_EQ(values(matmul(zeros({2, 0}), empty)), Values(6, 0.0));
  EXPECT_EQ(concatenate({empty, ones({1, 3})}, 0).shape(), (Shape{1, 3}));
  EXPECT_EQ(values(exp(empty)), Values{});
  EXPECT_EQ(values(sort(empty, 0)), Values{});
  EXPECT_EQ(values(cumsum(empty, 0)), Values{});
  EXPECT_EQ(take(empty, zeros({0}, int32), 0).shape(), (Shape{0, 3}));
}

}  // namespace mlx::core::test
