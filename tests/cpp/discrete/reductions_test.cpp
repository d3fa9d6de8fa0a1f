// Tests reductions whose outputs the threads of a threadgroup share, beside those of the host.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

// One pass and two, rows and columns that are no multiples of a threadgroup, and several of both.
const std::vector<Shape> kShapes{{40, 600},  {600, 40},     {70, 300},      {2049, 513},
                                 {3, 513},   {100000},      {1, 50000},     {50000, 1},
                                 {2, 70000}, {30, 200, 33}, {4, 3, 700, 5}, {7, 513, 8, 9}};

// Each axis, the first and the last one, and all.
std::vector<std::vector<int>> axes_of(const Shape& shape) {
  const int last = static_cast<int>(shape.size()) - 1;
  std::vector<std::vector<int>> made(1);
  for (int axis = 0; axis <= last; ++axis) {
    made[0].push_back(axis);
    made.push_back({axis});
  }
  if (last > 0) made.push_back({0, last});
  return made;
}

template <typename Reduce>
void expect_as_on_the_host(const array& x, Reduce reduce, float tolerance = 0) {
  for (const auto& axes : axes_of(x.shape())) {
    const array got = reduce(x, axes, Device::gpu), want = reduce(x, axes, Device::cpu);
    ASSERT_EQ(got.dtype(), want.dtype());
    EXPECT_TRUE(allclose(got, want, tolerance, tolerance, /*equal_nan=*/true).item<bool>())
        << x.dtype() << " " << ::testing::PrintToString(x.shape()) << " "
        << ::testing::PrintToString(axes);
  }
}

array sum_of(const array& x, const std::vector<int>& axes, Device device) {
  return sum(x, axes, false, device);
}
array mean_of(const array& x, const std::vector<int>& axes, Device device) {
  return mean(x, axes, false, device);
}
array variance_of(const array& x, const std::vector<int>& axes, Device device) {
  return var(x, axes, false, 1, device);
}
array most_of(const array& x, const std::vector<int>& axes, Device device) {
  return max(x, axes, false, device);
}
array least_of(const array& x, const std::vector<int>& axes, Device device) {
  return min(x, axes, false, device);
}

TEST(Reductions, SumsOfIntegers) {
  for (const Shape& shape : kShapes) {
    const array x = random::randint(-9, 9, shape);
    for (const Dtype dtype : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64}) {
      const array of_type = astype(x, dtype);
      eval(of_type);
      expect_as_on_the_host(of_type, sum_of);
    }
  }
}

template <typename Reduce>
void expect_floats_as_on_the_host(const array& x, Reduce reduce) {
  for (const auto& [dtype, tolerance] :
       {std::pair(float32, 1e-5f), std::pair(float16, 2e-3f), std::pair(bfloat16, 2e-2f)}) {
    const array of_type = astype(x, dtype);
    eval(of_type);
    expect_as_on_the_host(of_type, reduce, tolerance);
  }
}

TEST(Reductions, SumsOfFloats) {
  for (const Shape& shape : kShapes) {
    const array x = add(random::uniform(shape), array(0.5f));
    expect_floats_as_on_the_host(x, sum_of);
    const array numbers = add(astype(x, complex64), array(complex64_t{0, 1}));
    eval(numbers);
    expect_as_on_the_host(numbers, sum_of, 1e-5f);
  }
}

TEST(Reductions, MeansAndVariances) {
  for (const Shape& shape : kShapes) {
    const array x = add(random::uniform(shape), array(3.0f));
    expect_floats_as_on_the_host(x, mean_of);
    expect_floats_as_on_the_host(x, variance_of);
  }
}

TEST(Reductions, Extremes) {
  for (const Shape& shape : kShapes) {
    const array x = random::randint(0, 200, shape);
    const array with_nans = log(subtract(astype(x, float32), array(1.0f)));
    eval(x, with_nans);
    for (const Dtype dtype : {uint8, int64, float16}) {
      const array of_type = astype(x, dtype);
      eval(of_type);
      expect_as_on_the_host(of_type, most_of);
      expect_as_on_the_host(of_type, least_of);
    }
    expect_as_on_the_host(with_nans, most_of);
    expect_as_on_the_host(with_nans, least_of);
  }
}

TEST(Reductions, Truths) {
  for (const Shape& shape : kShapes) {
    const array x = greater(random::uniform(shape), array(0.001f));
    eval(x);
    expect_as_on_the_host(x, [](const array& a, const std::vector<int>& axes, Device device) {
      return all(a, axes, false, device);
    });
    const array rare = logical_not(x);
    eval(rare);
    expect_as_on_the_host(rare, [](const array& a, const std::vector<int>& axes, Device device) {
      return any(a, axes, false, device);
    });
  }
}

TEST(Reductions, Views) {
  const array x = random::randint(-9, 9, {700, 90, 3});
  for (const array& view : {transpose(x), slice(x, {5, 1, 0}, {700, 90, 2}),
                            slice(x, {699, 0, 0}, {-701, 90, 3}, {-1, 2, 1}),
                            broadcast_to(slice(x, {0, 0, 0}, {700, 1, 3}), {700, 600, 3})}) {
    eval(view);
    expect_as_on_the_host(view, sum_of);
  }
}

}  // namespace
}  // namespace mlx::core::test
