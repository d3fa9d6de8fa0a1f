// Reductions, scans, softmax: every layout that the kernels distinguish.
#include "mlx/backend_helpers.h"

namespace mlx::core {
namespace {

using namespace testing;

// Combines elements over `axes` in a plain loop.
template <typename Combine>
std::vector<double> combined(const array& a, const std::vector<int>& axes, double neutral,
                             Combine combine) {
  auto values = doubles(a);
  Strides strides(a.ndim());
  int64_t size = 1;
  for (int d = static_cast<int>(a.ndim()) - 1; d >= 0; --d) {
    bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    strides[d] = reduced ? 0 : size;
    size *= reduced ? 1 : a.shape(d);
  }
  std::vector<double> out(size, neutral);
  for (size_t i = 0; i < values.size(); ++i) {
    double& result = out[elem_to_loc(i, a.shape(), strides)];
    result = combine(result, values[i]);
  }
  return out;
}

std::vector<double> sum_of(const array& a, const std::vector<int>& axes) {
  return combined(a, axes, 0, std::plus<>());
}

TEST(BackendReduce, SumsOverEveryAxisSet) {
  const std::vector<std::vector<int>> sets = {{0},    {1},    {2},    {3},       {0, 1},
                                              {0, 2}, {1, 3}, {0, 3}, {1, 2, 3}, {0, 1, 2, 3}};
  for (auto dtype : {float32, float64, int32, float16, bfloat16, complex64, uint8}) {
    auto d = device_for(dtype);
    auto dense = numbers({3, 5, 4, 19}, dtype, 3);
    for (auto& a : {dense, transpose(numbers({19, 4, 5, 3}, dtype, 3), {3, 2, 1, 0}, d),
                    broadcast_to(numbers({3, 1, 4, 19}, dtype, 3), {3, 5, 4, 19}, d)}) {
      for (auto& axes : sets) {
        auto want = sum_of(a, axes);
        auto got = sum(a, axes, false, d);
        expect_near(doubles(got), want, tolerance(dtype), dtype_to_string(dtype));
      }
    }
  }
}

TEST(BackendReduce, LongReductionsSplit) {
  for (auto dtype : {float32, float16, int64}) {
    auto a = numbers({300000}, dtype, 2);
    double want = sum_of(a, {0})[0];
    expect_near(doubles(sum(astype(a, float32), false)), {want}, 1e-6);
    if (dtype == int64) {
      expect_near(doubles(sum(a, false)), {want}, 0);
    }
    auto b = numbers({100000, 3}, dtype == float16 ? float32 : dtype, 2);
    expect_near(doubles(sum(b, 0, false)), sum_of(b, {0}), 1e-6);
    auto c = numbers({3, 100000}, dtype == float16 ? float32 : dtype, 2);
    expect_near(doubles(sum(c, 1, false)), sum_of(c, {1}), 1e-6);
    expect_near(doubles(max(c, 1, false)), {1, 1, 1}, 0);
  }
  // Integers up to 2048 are exact in half, so partial sums must have been kept in float.
  auto ones_half = ones({40000}, float16);
  expect_near(doubles(sum(ones_half, false)), {40000}, 1e-3);
}

// A SIMD-group reads two rows, or two parts of one.
TEST(BackendReduce, OddAndEvenNumbersOfRows) {
  const std::vector<std::pair<Shape, std::vector<int>>> cases = {{{1, 33}, {1}},
                                                                 {{2, 40}, {1}},
                                                                 {{7, 100}, {1}},
                                                                 {{2, 9, 64}, {2}},
                                                                 {{33, 5, 40}, {0, 2}},
                                                                 {{3 * 8192 + 5}, {0}},
                                                                 {{2, 5 * 8192 + 77}, {1}},
                                                                 {{3, 100000}, {1}},
                                                                 {{20001, 3, 40}, {0, 2}},
                                                                 {{40, 2, 20001}, {0, 2}},
                                                                 {{511, 64}, {1}},
                                                                 {{1025, 96}, {1}}};
  for (auto& [shape, axes] : cases) {
    auto a = numbers(shape, float32, 3);
    expect_near(doubles(sum(a, axes, false)), sum_of(a, axes), 1e-6);
    auto half = numbers(shape, bfloat16, 3);
    expect_near(doubles(sum(half, axes, false)), sum_of(half, axes), 1e-2);
    auto whole = numbers(shape, int32, 1 << 15);
    auto largest = combined(whole, axes, 0, [](double x, double y) { return std::max(x, y); });
    expect_near(doubles(max(whole, axes, false)), largest, 0);
  }
}

TEST(BackendReduce, ManyDimensions) {
  auto a =
      transpose(numbers({2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, float32), {1, 0, 3, 2, 5, 4, 7, 6, 9, 8});
  expect_near(doubles(sum(a, {0, 2, 4, 6, 8}, false)), sum_of(a, {0, 2, 4, 6, 8}), 1e-6);
}

TEST(BackendReduce, OtherReductions) {
  for (auto dtype : all_dtypes()) {
    if (dtype == bool_) {
      continue;
    }
    auto d = device_for(dtype);
    auto a = numbers({4, 37}, dtype, 3, 1);
    auto x = doubles(a);
    std::vector<double> least(4, 99), most(4, -99), product(37, 1);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 37; ++j) {
        least[i] = std::min(least[i], x[i * 37 + j]);
        most[i] = std::max(most[i], x[i * 37 + j]);
        product[j] *= x[i * 37 + j];
      }
    }
    auto name = dtype_to_string(dtype);
    expect_near(doubles(min(a, 1, false, d)), least, 0, name);
    expect_near(doubles(max(a, 1, false, d)), most, 0, name);
    expect_near(doubles(prod(a, 0, false, d)), product, 0, name);
    expect_near(doubles(all(a, 0, false, d)), std::vector<double>(37, 1), 0, name);
    expect_near(doubles(any(subtract(a, a, d), 0, false, d)), std::vector<double>(37, 0), 0, name);
  }
}

TEST(BackendReduce, EmptyAndNaN) {
  expect_near(doubles(sum(zeros({0, 3}, float32), 0, false)), {0, 0, 0}, 0);
  expect_near(doubles(prod(zeros({2, 0}, int32), 1, false)), {1, 1}, 0);
  float nan = std::nanf("");
  auto a = array({1.0f, nan, 3.0f, 4.0f});
  expect_near(doubles(max(a, false)), {nan}, 0);
  expect_near(doubles(min(a, false)), {nan}, 0);
  expect_near(doubles(argmax(a, false)), {1}, 0);
}

TEST(BackendReduce, ArgReduceTakesTheFirst) {
  for (auto dtype : all_dtypes()) {
    auto d = device_for(dtype);
    auto a = transpose(numbers({23, 3, 4}, dtype, 4), {1, 0, 2}, d);
    auto x = doubles(a);
    std::vector<double> want(12);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 4; ++k) {
        int best = 0;
        for (int j = 1; j < 23; ++j) {
          best = x[(i * 23 + j) * 4 + k] > x[(i * 23 + best) * 4 + k] ? j : best;
        }
        want[i * 4 + k] = best;
      }
    }
    expect_near(doubles(argmax(a, 1, false, d)), want, 0, dtype_to_string(dtype));
  }
}

TEST(BackendReduce, Scans) {
  for (auto dtype : {float32, float64, int32, float16, complex64}) {
    auto d = device_for(dtype);
    auto a = transpose(numbers({6, 4, 9}, dtype, 3), {1, 2, 0}, d);
    auto x = doubles(a);
    for (bool reverse : {false, true}) {
      for (bool inclusive : {false, true}) {
        std::vector<double> want(x.size());
        for (int i = 0; i < 4; ++i) {
          for (int k = 0; k < 6; ++k) {
            double total = 0;
            for (int step = 0; step < 9; ++step) {
              int j = reverse ? 8 - step : step;
              double value = x[(i * 9 + j) * 6 + k];
              want[(i * 9 + j) * 6 + k] = inclusive ? total + value : total;
              total += value;
            }
          }
        }
        expect_near(doubles(cumsum(a, 1, reverse, inclusive, d)), want, 1e-6,
                    dtype_to_string(dtype));
      }
    }
  }
}

TEST(BackendReduce, Softmax) {
  for (auto dtype : {float32, float64, float16, bfloat16}) {
    auto d = device_for(dtype);
    auto a = transpose(numbers({37, 5}, dtype, 9, -4), d);
    auto x = doubles(a);
    std::vector<double> want(x.size()), norms(5);
    for (int i = 0; i < 5; ++i) {
      double total = 0;
      for (int j = 0; j < 37; ++j) {
        total += std::exp(x[i * 37 + j]);
      }
      norms[i] = std::log(total);
      for (int j = 0; j < 37; ++j) {
        want[i * 37 + j] = std::exp(x[i * 37 + j]) / total;
      }
    }
    expect_near(doubles(softmax(a, std::vector<int>{1}, false, d)), want, tolerance(dtype));
    expect_near(doubles(logsumexp(a, 1, false, d)), norms, tolerance(dtype));
  }
}

}  // namespace
}  // namespace mlx::core
