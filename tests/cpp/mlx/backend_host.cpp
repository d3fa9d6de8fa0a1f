// Operations by libraries on the host: products, sorting, decompositions.
#include "mlx/backend_helpers.h"
#include "mlx/linalg.h"

namespace mlx::core {
namespace {

using namespace testing;

std::vector<double> product(const array& a, const array& b) {
  int m = a.shape(-2), k = a.shape(-1), n = b.shape(-1);
  auto x = doubles(a);
  auto y = doubles(b);
  int batch = static_cast<int>(a.size()) / (m * k);
  std::vector<double> out(size_t(batch) * m * n, 0);
  for (int s = 0; s < batch; ++s) {
    for (int i = 0; i < m; ++i) {
      for (int p = 0; p < k; ++p) {
        for (int j = 0; j < n; ++j) {
          out[(s * m + i) * n + j] += x[(s * m + i) * k + p] * y[(s * k + p) * n + j];
        }
      }
    }
  }
  return out;
}

TEST(BackendHost, MatmulOverTypesAndLayouts) {
  for (auto dtype : {float32, float64, float16, bfloat16, complex64}) {
    auto d = device_for(dtype);
    for (auto [m, k, n] : {std::tuple{3, 4, 5}, {1, 7, 9}, {8, 6, 1}, {1, 5, 1}, {33, 17, 29}}) {
      auto a = numbers({m, k}, dtype, 3);
      auto b = numbers({k, n}, dtype, 3);
      auto at = transpose(numbers({k, m}, dtype, 3), d);
      auto bt = transpose(numbers({n, k}, dtype, 3), d);
      auto wide = slice(numbers({m, 2 * k}, dtype, 3), {0, 0}, {m, 2 * k}, {1, 2}, d);
      for (auto& x : {a, at, wide}) {
        for (auto& y : {b, bt}) {
          expect_near(doubles(matmul(x, y, d)), product(x, y), tolerance(dtype),
                      dtype_to_string(dtype));
        }
      }
    }
  }
}

TEST(BackendHost, MatmulOfBatches) {
  auto a = numbers({2, 3, 4, 5}, float32, 5);
  auto b = numbers({2, 3, 5, 6}, float32, 5);
  expect_near(doubles(matmul(a, b)), product(a, b), 1e-6);
  auto one = numbers({5, 6}, float32, 5);
  auto repeated = broadcast_to(one, {2, 3, 5, 6});
  expect_near(doubles(matmul(a, one)), product(a, repeated), 1e-6);
  auto turned = transpose(a, {1, 0, 2, 3});
  expect_near(doubles(matmul(turned, broadcast_to(one, {3, 2, 5, 6}))),
              product(turned, broadcast_to(one, {3, 2, 5, 6})), 1e-6);
}

TEST(BackendHost, MatmulWithoutTerms) {
  expect_near(doubles(matmul(zeros({2, 0}, float32), zeros({0, 3}, float32))),
              std::vector<double>(6, 0), 0);
  EXPECT_EQ(matmul(zeros({0, 4}, float32), zeros({4, 3}, float32)).size(), 0u);
}

TEST(BackendHost, AddMM) {
  for (auto dtype : {float32, float64, float16}) {
    auto d = device_for(dtype);
    auto a = numbers({4, 6}, dtype, 3);
    auto b = numbers({6, 5}, dtype, 3);
    auto c = numbers({5}, dtype, 3);
    auto want = product(a, b);
    auto z = doubles(c);
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] = 0.5 * want[i] + 2 * z[i % 5];
    }
    expect_near(doubles(addmm(c, a, b, 0.5f, 2.0f, d)), want, tolerance(dtype),
                dtype_to_string(dtype));
  }
}

TEST(BackendHost, SortsEveryType) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    auto a = transpose(numbers({31, 4}, dtype, 50), d);
    auto x = doubles(a);
    auto order = x;
    for (int i = 0; i < 4; ++i) {
      std::sort(order.begin() + i * 31, order.begin() + (i + 1) * 31);
    }
    auto name = dtype_to_string(dtype);
    expect_near(doubles(sort(a, 1, d)), order, 0, name);
    expect_near(doubles(take_along_axis(a, argsort(a, 1, d), 1, d)), order, 0, name);
    auto parted = doubles(partition(a, 10, 1, d));
    auto args = doubles(take_along_axis(a, argpartition(a, 10, 1, d), 1, d));
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(parted[i * 31 + 10], order[i * 31 + 10]) << name;
      ASSERT_EQ(args[i * 31 + 10], order[i * 31 + 10]) << name;
    }
  }
}

TEST(BackendHost, SortsLongLinesStably) {
  int n = 200000;
  auto a = numbers({n}, int32, 1000);
  auto x = doubles(a);
  auto p = doubles(argsort(a, 0));
  auto y = doubles(sort(a, 0));
  for (int i = 1; i < n; ++i) {
    ASSERT_LE(y[i - 1], y[i]);
    int before = static_cast<int>(p[i - 1]), after = static_cast<int>(p[i]);
    ASSERT_TRUE(x[before] < x[after] || (x[before] == x[after] && before < after));
  }
}

TEST(BackendHost, NaNsSortLast) {
  float nan = std::nanf("");
  auto a = array({3.0f, nan, 1.0f, nan, 2.0f});
  expect_near(doubles(sort(a, 0)), {1, 2, 3, nan, nan}, 0);
  expect_near(doubles(argsort(a, 0)), {2, 4, 0, 1, 3}, 0);
}

TEST(BackendHost, SvdRebuildsItsInput) {
  for (auto [m, n] : {std::pair{5, 3}, {3, 5}, {4, 4}}) {
    auto a = numbers({2, m, n}, float32, 9, -4);
    auto parts = linalg::svd(a, Device::cpu);
    int k = std::min(m, n);
    auto u = slice(parts[0], {0, 0, 0}, {2, m, k});
    auto vt = slice(parts[2], {0, 0, 0}, {2, k, n});
    auto scaled = multiply(u, expand_dims(parts[1], 1));
    expect_near(doubles(matmul(scaled, vt)), doubles(a), 1e-4);
  }
}

}  // namespace
}  // namespace mlx::core
