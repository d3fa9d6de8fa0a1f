// Gathers and scatters over types, index types and layouts.
#include "mlx/backend_helpers.h"

namespace mlx::core {
namespace {

using namespace testing;

TEST(BackendIndexing, TakeAlongEveryAxis) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    for (auto& a :
         {numbers({4, 5, 6}, dtype), transpose(numbers({6, 5, 4}, dtype), {2, 1, 0}, d)}) {
      auto x = doubles(a);
      for (int axis = 0; axis < 3; ++axis) {
        auto indices = array({3, 0, -1, 2}, int32);
        std::vector<double> want;
        for (int i = 0; i < (axis == 0 ? 4 : 4); ++i) {
          for (int j = 0; j < (axis == 1 ? 4 : 5); ++j) {
            for (int k = 0; k < (axis == 2 ? 4 : 6); ++k) {
              int p[3] = {i, j, k};
              int index = doubles(indices)[p[axis]];
              p[axis] = index < 0 ? index + a.shape(axis) : index;
              want.push_back(x[(p[0] * 5 + p[1]) * 6 + p[2]]);
            }
          }
        }
        expect_near(doubles(take(a, indices, axis, d)), want, 0, dtype_to_string(dtype));
      }
    }
  }
}

TEST(BackendIndexing, IndicesOfEveryType) {
  auto a = numbers({9, 3}, float32);
  auto x = doubles(a);
  std::vector<double> want = {x[24], x[25], x[26], x[0], x[1], x[2], x[12], x[13], x[14]};
  for (auto dtype : {uint8, uint16, uint32, uint64, int8, int16, int32, int64}) {
    auto indices = array({8, 0, 4}, dtype);
    expect_near(doubles(take(a, indices, 0)), want, 0, dtype_to_string(dtype));
  }
}

TEST(BackendIndexing, SeveralIndexArrays) {
  auto a = slice(numbers({6, 7, 4}, int32), {5, 0, 0}, {-7, 7, 4}, {-1, 1, 1});
  auto x = doubles(a);
  auto rows = array({0, 5, -1}, int32);
  auto cols = array({6, 2, 0}, int32);
  std::vector<double> want;
  int at[3][2] = {{0, 6}, {5, 2}, {5, 0}};
  for (auto& p : at) {
    for (int k = 0; k < 4; ++k) {
      want.push_back(x[(p[0] * 7 + p[1]) * 4 + k]);
    }
  }
  expect_near(doubles(gather(a, {rows, cols}, {0, 1}, {1, 1, 4})), want, 0);
}

TEST(BackendIndexing, ReadsOutOfRangeAreClamped) {
  auto a = array({10, 11, 12}, int32);
  expect_near(doubles(take(a, array({100, -100, 1}, int32), 0)), {12, 10, 11}, 0);
}

TEST(BackendIndexing, ScatterAppliesUpdatesInOrder) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    if (dtype == bool_) {
      continue;
    }
    auto a = ones({4, 3}, dtype, d);
    auto indices = array({2, 0, 2, -1, 9}, int32);
    auto updates = numbers({5, 1, 3}, dtype, 3, 1);
    auto u = doubles(updates);
    std::vector<double> sums(12, 1), last(12, 1), most(12, 1), least(12, 1), products(12, 1);
    int rows[] = {2, 0, 2, 3};
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 3; ++k) {
        int at = rows[i] * 3 + k;
        sums[at] += u[i * 3 + k];
        products[at] *= u[i * 3 + k];
        last[at] = u[i * 3 + k];
        most[at] = std::max(most[at], u[i * 3 + k]);
        least[at] = std::min(least[at], u[i * 3 + k]);
      }
    }
    auto name = dtype_to_string(dtype);
    expect_near(doubles(scatter(a, indices, updates, 0, d)), last, 0, name);
    expect_near(doubles(scatter_add(a, indices, updates, 0, d)), sums, 0, name);
    expect_near(doubles(scatter_prod(a, indices, updates, 0, d)), products, 0, name);
    expect_near(doubles(scatter_max(a, indices, updates, 0, d)), most, 0, name);
    expect_near(doubles(scatter_min(a, indices, updates, 0, d)), least, 0, name);
  }
}

TEST(BackendIndexing, ScatterOfManySingleElements) {
  int n = 50000;
  std::vector<int> where(n);
  for (int i = 0; i < n; ++i) {
    where[i] = (i * 7919) % 997;
  }
  auto indices = array(where.begin(), {n}, int32);
  auto updates = numbers({n, 1}, float32, 5);
  auto u = doubles(updates);
  std::vector<double> want(1000, 0);
  for (int i = 0; i < n; ++i) {
    want[where[i]] += u[i];
  }
  expect_near(doubles(scatter_add(zeros({1000}, float32), indices, updates, 0)), want, 0);
}

TEST(BackendIndexing, ScatterIntoColumnsAndWindows) {
  auto a = zeros({5, 4}, float32);
  auto columns = array({3, 1}, int32);
  auto updates = numbers({2, 5, 1}, float32, 9, 1);
  auto u = doubles(updates);
  std::vector<double> want(20, 0);
  for (int r = 0; r < 5; ++r) {
    want[r * 4 + 3] = u[r];
    want[r * 4 + 1] = u[5 + r];
  }
  expect_near(doubles(scatter(a, columns, updates, 1)), want, 0);
  // Windows of two rows, which overlap.
  auto windows = ones({3, 2, 4}, float32);
  auto starts = array({0, 1, 3}, int32);
  std::vector<double> counts;
  for (double c : {1, 2, 1, 1, 1}) {
    counts.insert(counts.end(), 4, c);
  }
  expect_near(doubles(scatter_add(a, starts, windows, 0)), counts, 0);
}

TEST(BackendIndexing, AlongAnAxis) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    auto a = transpose(numbers({6, 3, 5}, dtype), {1, 2, 0}, d);
    auto x = doubles(a);
    auto order = argsort(a, 1, d);
    auto p = doubles(order);
    auto got = doubles(take_along_axis(a, order, 1, d));
    std::vector<double> put(x.size());
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 5; ++j) {
        for (int k = 0; k < 6; ++k) {
          int at = (i * 5 + j) * 6 + k;
          int from = (i * 5 + static_cast<int>(p[at])) * 6 + k;
          ASSERT_EQ(got[at], x[from]) << dtype_to_string(dtype);
          put[from] = x[at];
        }
      }
    }
    expect_near(doubles(put_along_axis(zeros_like(a, d), order, a, 1, d)), put, 0,
                dtype_to_string(dtype));
    auto zero = zeros_like(order, d);
    if (dtype != bool_) {
      auto sums = doubles(scatter_add_axis(zeros_like(a, d), zero, a, 1, d));
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 6; ++k) {
          double total = 0;
          for (int j = 0; j < 5; ++j) {
            total += x[(i * 5 + j) * 6 + k];
          }
          ASSERT_EQ(sums[i * 30 + k], total) << dtype_to_string(dtype);
        }
      }
    }
  }
}

TEST(BackendIndexing, DynamicSlices) {
  auto a = numbers({6, 8}, float32);
  auto start = array({2, 3}, int32);
  expect_near(doubles(slice(a, start, {0, 1}, {3, 4})), doubles(slice(a, Shape{2, 3}, Shape{5, 7})),
              0);
  auto update = ones({3, 4}, float32);
  expect_near(doubles(slice_update(a, update, start, {0, 1})),
              doubles(slice_update(a, update, Shape{2, 3}, Shape{5, 7})), 0);
}

}  // namespace
}  // namespace mlx::core
