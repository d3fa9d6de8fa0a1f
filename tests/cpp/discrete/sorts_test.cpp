// Tests sorting on a device with memory of its own, beside the host's.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "metal/driver.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

// Numbers with many equal ones, both zeros, infinities and NaNs where the type has them.
array numbers(Shape shape, Dtype dtype) {
  const array small = random::randint(-9, 9, shape);
  if (!issubdtype(dtype, inexact)) return astype(multiply(small, array(1 << 20)), dtype);
  const float infinity = std::numeric_limits<float>::infinity();
  array x = multiply(small, random::normal(shape));
  for (const auto& [number, special] :
       {std::pair(-9, infinity), {-8, -infinity}, {-7, -0.0f}, {-6, 0.0f}}) {
    x = where(equal(small, array(number)), array(special), x);
  }
  x = where(equal(small, array(-5)), array(std::numeric_limits<float>::quiet_NaN()), x);
  if (dtype != complex64) return astype(x, dtype);
  const array i(complex64_t(0, 1));
  return add(round(x), multiply(i, astype(random::randint(-2, 2, shape), float32)));
}

class Sorts : public ::testing::TestWithParam<Dtype> {
 protected:
  void expect_as_on_the_host(const array& x, int axis) {
    eval(x);
    const auto downloads = ::metal::transfer_statistics().downloads;
    const array values = sort(x, axis), positions = argsort(x, axis);
    eval(values, positions);
    EXPECT_EQ(::metal::transfer_statistics().downloads, downloads);
    EXPECT_TRUE(array_equal(positions, argsort(x, axis, Device::cpu)).item<bool>())
        << ::testing::PrintToString(x.shape());
    EXPECT_TRUE(array_equal(values, sort(x, axis, Device::cpu), true).item<bool>())
        << ::testing::PrintToString(x.shape());
  }
};

INSTANTIATE_TEST_SUITE_P(Types, Sorts,
                         ::testing::Values(bool_, uint8, uint16, uint32, uint64, int8, int16, int32,
                                           int64, float16, bfloat16, float32, complex64),
                         [](const auto& info) { return std::string(dtype_to_string(info.param)); });

TEST_P(Sorts, LinesOfAllLengths) {
  for (int length : {1, 2, 3, 31, 64, 1000, 2048, 2049, 4096, 5000, 20001})
    expect_as_on_the_host(numbers({3, length}, GetParam()), -1);
}

TEST_P(Sorts, LongLines) {
  for (int length : {131072, 140001}) expect_as_on_the_host(numbers({2, length}, GetParam()), -1);
}

TEST_P(Sorts, AllAxes) {
  for (int axis = 0; axis < 3; ++axis) expect_as_on_the_host(numbers({5, 70, 3}, GetParam()), axis);
  expect_as_on_the_host(numbers({3000, 2}, GetParam()), 0);
  expect_as_on_the_host(slice(numbers({40, 50}, GetParam()), {1, 2}, {40, 50}, {2, 3}), 1);
}

void expect_equal(const array& got, const array& want, int length, int kth) {
  EXPECT_TRUE(array_equal(got, want, true).item<bool>()) << kth << " of " << length;
}

// The element at `kth` is the one of a sorted line, and none is on the wrong side of it.
void expect_parted(const array& x, int kth) {
  const int length = x.shape(-1);
  const array sorted = sort(x, -1, Device::cpu), order = argsort(x, -1, Device::cpu);
  const array values = partition(x, kth, -1), positions = argpartition(x, kth, -1);
  for (const array& parted : {values, take_along_axis(x, positions, -1)}) {
    for (const auto& [begin, end] : {std::pair(0, kth), {kth, kth + 1}, {kth, length}}) {
      const array part = slice(parted, {0, begin}, {x.shape(0), end});
      expect_equal(sort(part, -1, Device::cpu), slice(sorted, {0, begin}, {x.shape(0), end}),
                   length, kth);
    }
  }
  expect_equal(sort(positions, -1, Device::cpu), sort(order, -1, Device::cpu), length, kth);
}

TEST_P(Sorts, Partitions) {
  for (int length : {700, 2049, 5000, 20001}) {
    const array x = numbers({3, length}, GetParam());
    for (int kth : {0, 5, length / 2, length - 30, length - 1}) expect_parted(x, kth);
  }
  expect_parted(numbers({2, 300000}, GetParam()), 1234);
  expect_parted(transpose(numbers({4000, 2}, GetParam())), 2000);
}

// Few elements on a side are in the order of a sorted line.
TEST_P(Sorts, FewElementsOfPartitionsAreSorted) {
  const array x = numbers({3, 5000}, GetParam());
  const array sorted = sort(x, -1, Device::cpu), order = argsort(x, -1, Device::cpu);
  for (int few : {1, 2, 100, 1000}) {
    const int kth = 5000 - few;
    expect_equal(topk(x, few, -1), slice(sorted, {0, kth}, {3, 5000}), 5000, kth);
    expect_equal(slice(argpartition(x, kth, -1), {0, kth}, {3, 5000}),
                 slice(order, {0, kth}, {3, 5000}), 5000, kth);
    expect_equal(slice(partition(x, few, -1), {0, 0}, {3, few}), slice(sorted, {0, 0}, {3, few}),
                 5000, few);
    expect_equal(slice(argpartition(x, few, -1), {0, 0}, {3, few}), slice(order, {0, 0}, {3, few}),
                 5000, few);
  }
}

}  // namespace
}  // namespace mlx::core::test
