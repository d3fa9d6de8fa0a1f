// Conversions between all types, views, and concatenated arrays.
#include "mlx/backend/common/copy.h"
#include "mlx/backend_helpers.h"

namespace mlx::core {
namespace {

using namespace testing;

TEST(BackendCopy, ConvertsBetweenAllTypes) {
  for (auto from : all_dtypes()) {
    for (auto to : all_dtypes()) {
      auto d = from == float64 || to == float64 ? Device::cpu : Device::gpu;
      auto a = numbers({5, 9}, from, 5);
      auto want = doubles(a);
      if (to == bool_) {
        for (auto& value : want) {
          value = value != 0;
        }
      }
      auto name = dtype_to_string(from) + " to " + dtype_to_string(to);
      expect_near(doubles(astype(a, to, d)), want, 0, name);
      auto b = astype(transpose(a, d), to, d);
      expect_near(doubles(transpose(b, d)), want, 0, name);
    }
  }
}

TEST(BackendCopy, SixteenBitFloatsRoundToEven) {
  auto a = array({1.0009765625f * 1.0f, 2049.0f, 2051.0f, 65520.0f, 1e-8f, 6e-8f});
  auto half = doubles(astype(a, float16));
  expect_near(half, {1.0009765625, 2048, 2052, INFINITY, 0, 5.960464477539063e-08}, 0);
  auto b = array({257.0f, 259.0f, 1.0f});
  expect_near(doubles(astype(b, bfloat16)), {256, 260, 1}, 0);
}

TEST(BackendCopy, Reshapes) {
  auto a = transpose(numbers({4, 6, 5}, int32), {1, 0, 2});
  auto want = doubles(a);
  expect_near(doubles(reshape(a, {24, 5})), want, 0);
  expect_near(doubles(reshape(a, {6, 2, 2, 5})), want, 0);
  expect_near(doubles(reshape(a, {120})), want, 0);
  expect_near(doubles(reshape(broadcast_to(array({1, 2, 3}, int32), {4, 3}), {2, 6})),
              {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, 0);
}

TEST(BackendCopy, ContiguousCopiesOnlyWhatItMust) {
  auto rows = numbers({4, 6}, float32);
  auto columns = transpose(rows);
  auto kept = contiguous(columns, /*allow_col_major=*/true);
  auto copied = contiguous(columns);
  eval({rows, columns, kept, copied});
  EXPECT_EQ(kept.data<float>(), rows.data<float>());
  EXPECT_TRUE(kept.flags().col_contiguous && !kept.flags().row_contiguous);
  EXPECT_TRUE(copied.flags().row_contiguous);
  expect_near(doubles(kept), doubles(copied), 0);
  auto gaps = contiguous(slice(rows, {0, 0}, {4, 6}, {1, 2}), true);
  eval({gaps});
  EXPECT_TRUE(gaps.flags().row_contiguous);
}

TEST(BackendCopy, AssemblesArrays) {
  auto a = numbers({2, 3}, float32);
  auto b = numbers({2, 2}, float32);
  auto x = doubles(a);
  auto y = doubles(b);
  expect_near(doubles(concatenate({a, b}, 1)),
              {x[0], x[1], x[2], y[0], y[1], x[3], x[4], x[5], y[2], y[3]}, 0);
  expect_near(doubles(pad(b, std::pair<int, int>{1, 0}, array(9.0f))),
              {9, 9, 9, 9, y[0], y[1], 9, y[2], y[3]}, 0);
  auto c = slice_update(a, array({-1.0f, -2.0f}, {2, 1}), Shape{0, 1}, Shape{2, 2});
  expect_near(doubles(c), {x[0], -1, x[2], x[3], -2, x[5]}, 0);
  auto parts = split(a, Shape{1}, 1);
  expect_near(doubles(parts[1]), {x[1], x[2], x[4], x[5]}, 0);
}

TEST(BackendCopy, FillsAndCounts) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    expect_near(doubles(full({3, 5}, 1, dtype, d)), std::vector<double>(15, 1), 0,
                dtype_to_string(dtype));
    if (dtype != bool_ && dtype != complex64) {
      std::vector<double> want;
      for (int i = 0; i < 30; ++i) {
        want.push_back(3 + 2 * i);
      }
      expect_near(doubles(arange(3, 63, 2, dtype, d)), want, 0, dtype_to_string(dtype));
    }
  }
}

TEST(BackendCopy, RandomBitsAreThreefry) {
  // Known answers of Threefry-2x32 with 20 rounds for key 0 and counter 0, from the published test
  // vectors.
  auto key = array({0u, 0u}, uint32);
  auto bits = random::bits({1}, 4, key);
  bits.eval();
  EXPECT_EQ(bits.data<uint32_t>()[0], 0x6b200159u);
  auto many = random::bits({7}, 2, key);
  auto again = random::bits({7}, 2, key);
  expect_near(doubles(many), doubles(again), 0);
}

}  // namespace
}  // namespace mlx::core
