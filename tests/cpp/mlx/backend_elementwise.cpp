// Elementwise operations over types and layouts, against plain loops.
#include "mlx/backend_helpers.h"

namespace mlx::core {
namespace {

using namespace testing;

// Views of (6, 7, 5) elements: dense, transposed, sliced, reversed, broadcast and deep.
std::vector<array> layouts(Dtype dtype, Device d) {
  auto dense = numbers({6, 7, 5}, dtype);
  return {
      dense,
      transpose(numbers({5, 7, 6}, dtype), {2, 1, 0}, d),
      slice(numbers({12, 7, 10}, dtype), {1, 0, 1}, {12, 7, 10}, {2, 1, 2}, d),
      slice(dense, {5, 6, 0}, {-7, -8, 5}, {-1, -1, 1}, d),
      broadcast_to(numbers({6, 1, 5}, dtype), {6, 7, 5}, d),
      broadcast_to(numbers({1, 1, 1}, dtype), {6, 7, 5}, d),
  };
}

TEST(BackendElementwise, BinaryOverTypesAndLayouts) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    auto views = layouts(dtype, d);
    for (auto& a : views) {
      for (auto& b : views) {
        auto x = doubles(a);
        auto y = doubles(b);
        std::vector<double> sum(x.size()), product(x.size()), least(x.size()), below(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
          sum[i] = dtype == bool_ ? (x[i] + y[i] > 0) : x[i] + y[i];
          product[i] = x[i] * y[i];
          least[i] = std::min(x[i], y[i]);
          below[i] = x[i] < y[i];
        }
        auto name = dtype_to_string(dtype);
        expect_near(doubles(add(a, b, d)), sum, 0, name);
        expect_near(doubles(multiply(a, b, d)), product, 0, name);
        expect_near(doubles(minimum(a, b, d)), least, 0, name);
        expect_near(doubles(less(a, b, d)), below, 0, name);
      }
    }
  }
}

TEST(BackendElementwise, DeepStrides) {
  // Six dimensions that do not merge.
  auto a = transpose(numbers({2, 3, 2, 3, 2, 3}, float32), {5, 3, 1, 4, 2, 0});
  auto b = transpose(numbers({3, 2, 3, 2, 3, 2}, float32), {2, 0, 4, 5, 1, 3});
  auto x = doubles(a);
  auto y = doubles(b);
  std::vector<double> want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    want[i] = x[i] - y[i];
  }
  expect_near(doubles(subtract(a, b)), want, 0);
  for (auto& value : x) {
    value = -value;
  }
  expect_near(doubles(negative(a)), x, 0);
}

TEST(BackendElementwise, UnaryFunctions) {
  struct Case {
    array (*op)(const array&, StreamOrDevice);
    double (*reference)(double);
    double low, high;
  };
  const Case cases[] = {
      {exp, std::exp, -80, 80},           {expm1, std::expm1, -5, 5},
      {log, std::log, 1e-3, 1e3},         {log1p, std::log1p, -0.9, 10},
      {sin, std::sin, -50, 50},           {cos, std::cos, -50, 50},
      {tan, std::tan, -1.5, 1.5},         {sinh, std::sinh, -10, 10},
      {cosh, std::cosh, -10, 10},         {tanh, std::tanh, -5, 5},
      {arcsin, std::asin, -1, 1},         {arccos, std::acos, -1, 1},
      {arctan, std::atan, -20, 20},       {erf, std::erf, -4, 4},
      {sqrt, std::sqrt, 0, 100},          {arcsinh, std::asinh, -20, 20},
      {arctanh, std::atanh, -0.99, 0.99}, {floor, std::floor, -9, 9},
  };
  for (auto& c : cases) {
    for (auto dtype : {float32, float64, float16, bfloat16}) {
      std::vector<float> values(1001);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(c.low + (c.high - c.low) * i / 1000);
      }
      auto a = astype(array(values.begin(), {1001}, float32), dtype, Device::cpu);
      auto x = doubles(a);
      auto got = doubles(c.op(a, device_for(dtype)));
      for (size_t i = 0; i < x.size(); ++i) {
        double want = c.reference(x[i]);
        if (dtype == float16 && std::abs(want) > 65000) {
          continue;
        }
        ASSERT_NEAR(got[i], want, tolerance(dtype) * std::max(1.0, std::abs(want)))
            << dtype_to_string(dtype) << " f(" << x[i] << ")";
      }
    }
  }
}

TEST(BackendElementwise, WholeNumberDivision) {
  auto a = array({-7, -7, 7, 7, 5, 0, -8, 3}, int32);
  auto b = array({2, -2, 2, -2, 0, 3, 4, -5}, int32);
  expect_near(doubles(floor_divide(a, b)), {-4, 3, 3, -4, 0, 0, -2, -1}, 0);
  expect_near(doubles(remainder(a, b)), {1, -1, 1, -1, 0, 0, 0, -2}, 0);
  auto both = divmod(a, b);
  expect_near(doubles(both[0]), {-4, 3, 3, -4, 0, 0, -2, -1}, 0);
  expect_near(doubles(both[1]), {1, -1, 1, -1, 0, 0, 0, -2}, 0);
  expect_near(doubles(power(array({2, -3, 0, 1, -1}, int32), array({10, 3, 0, -4, -3}, int32))),
              {1024, -27, 1, 0, 0}, 0);
}

TEST(BackendElementwise, NotANumber) {
  float nan = std::nanf("");
  auto a = array({nan, 1.0f, nan, 2.0f});
  auto b = array({1.0f, nan, nan, 3.0f});
  expect_near(doubles(maximum(a, b)), {nan, nan, nan, 3}, 0);
  expect_near(doubles(minimum(a, b)), {nan, nan, nan, 2}, 0);
  expect_near(doubles(equal(a, a)), {0, 1, 0, 1}, 0);
  expect_near(doubles(less(a, b)), {0, 0, 0, 1}, 0);
  EXPECT_TRUE(array_equal(a, a, true).item<bool>());
  EXPECT_FALSE(array_equal(a, a, false).item<bool>());
}

TEST(BackendElementwise, Select) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    auto views = layouts(dtype, d);
    for (auto& x : views) {
      auto condition = equal(numbers({6, 7, 5}, int32, 2), array(1), d);
      auto y = transpose(numbers({5, 7, 6}, dtype), {2, 1, 0}, d);
      auto c = doubles(condition);
      auto want = doubles(y);
      auto p = doubles(x);
      for (size_t i = 0; i < want.size(); ++i) {
        want[i] = c[i] ? p[i] : want[i];
      }
      expect_near(doubles(where(condition, x, y, d)), want, 0, dtype_to_string(dtype));
    }
  }
}

TEST(BackendElementwise, Clip) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    array low = astype(array(1), dtype, d);
    array high = astype(array(3), dtype, d);
    for (auto& x : layouts(dtype, d)) {
      auto want = doubles(minimum(maximum(x, low, d), high, d));
      expect_near(doubles(clip(x, low, high, d)), want, 0, dtype_to_string(dtype));
      auto raised = full(x.shape(), low, d);
      expect_near(doubles(clip(x, raised, high, d)), want, 0, dtype_to_string(dtype));
    }
  }
  float nan = std::nanf("");
  expect_near(doubles(clip(array({nan, 0.0f, 2.0f}), array(0.5f), array(1.0f))), {nan, 0.5, 1}, 0);
  expect_near(doubles(clip(array({0.0f, 2.0f}), array(3.0f), array(1.0f))), {1, 1}, 0);
}

TEST(BackendElementwise, EmptyArrays) {
  auto empty = zeros({3, 0, 2}, float32);
  EXPECT_EQ(exp(empty).size(), 0u);
  EXPECT_TRUE(doubles(add(empty, array(1.0f))).empty());
  EXPECT_TRUE(doubles(where(equal(empty, empty), empty, empty)).empty());
}

TEST(BackendElementwise, OutputsMayTakeTheirInputsMemory) {
  auto a = numbers({1000}, float32);
  auto want = doubles(a);
  for (auto& value : want) {
    value = std::exp(-(value + 1)) * 2;
  }
  expect_near(doubles(multiply(exp(negative(add(a, array(1.0f)))), array(2.0f))), want, 1e-6);
  // The source has not changed.
  expect_near(doubles(a), doubles(numbers({1000}, float32)), 0);
}

}  // namespace
}  // namespace mlx::core
