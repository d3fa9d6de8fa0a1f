// Tests gathers and scatters that are laid out for a GPU, beside those of the host.
#include <gtest/gtest.h>

#include <vector>

#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

// Rows, elements, and slices that are not contiguous; more indices than places, and fewer.
struct Slices {
  Shape shape;
  int axis;
  int count;
};
const std::vector<Slices> kSlices{{{50, 7}, 0, 500},   {{1000}, 0, 5000},   {{20, 300}, 0, 100},
                                  {{30, 4, 5}, 1, 64}, {{3, 9, 40}, 2, 90}, {{5000, 3}, 0, 40}};

array indices_of(const Slices& to, int outside) {
  const int length = to.shape[to.axis];
  return random::randint(-length - outside, length + outside, {to.count});
}

Shape slice_of(const Slices& to) {
  Shape slice = to.shape;
  slice[to.axis] = 1;
  return slice;
}

Shape shape_of_updates(const Slices& to) {
  Shape shape = slice_of(to);
  shape.insert(shape.begin(), to.count);
  return shape;
}

void expect_same_elements(const array& got, const array& want, const Slices& to) {
  EXPECT_TRUE(array_equal(got, want, /*equal_nan=*/true).item<bool>())
      << got.dtype() << " " << ::testing::PrintToString(to.shape) << " " << to.axis << " "
      << to.count;
}

TEST(Indices, Gather) {
  for (const Slices& to : kSlices) {
    const array x = random::randint(0, 100, to.shape);
    const array index = indices_of(to, 0);
    for (const Dtype dtype : {uint8, int16, float32, complex64}) {
      const array of_type = astype(x, dtype);
      eval(of_type, index);
      expect_same_elements(gather(of_type, index, to.axis, slice_of(to), Device::gpu),
                           gather(of_type, index, to.axis, slice_of(to), Device::cpu), to);
    }
  }
}

// Indices that are outside are left out.
TEST(Indices, Scatter) {
  using Scatter = array (*)(const array&, const array&, const array&, int, StreamOrDevice);
  for (const Slices& to : kSlices) {
    const array x = random::randint(-5, 5, to.shape), index = indices_of(to, 3);
    const array updates = random::randint(-5, 5, shape_of_updates(to));
    for (const Dtype dtype : {int8, float16, float32, int64}) {
      const array from = astype(x, dtype), added = astype(updates, dtype);
      eval(from, added, index);
      for (Scatter scatter_by : {Scatter(scatter), Scatter(scatter_add), Scatter(scatter_max),
                                 Scatter(scatter_min), Scatter(scatter_prod)}) {
        expect_same_elements(scatter_by(from, index, added, to.axis, Device::gpu),
                             scatter_by(from, index, added, to.axis, Device::cpu), to);
      }
    }
  }
}

}  // namespace
}  // namespace mlx::core::test
