// Tests convolutions on a device with memory of its own, beside the host's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metal/driver.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

struct Setting {
  Shape input, weight;
  std::vector<int> stride, padding, dilation, input_dilation;
  int groups = 1;
};

array convolved(const array& input, const array& weight, const Setting& to, Device device) {
  return conv_general(input, weight, to.stride, to.padding, to.padding, to.dilation,
                      to.input_dilation, to.groups, false, device);
}

class Convolutions : public ::testing::TestWithParam<Dtype> {
 protected:
  // The output and the cotangents of both arrays.
  void expect_as_on_the_host(const Setting& to) {
    const array x = astype(random::normal(to.input), GetParam());
    const array w = astype(random::normal(to.weight), GetParam());
    const array y = convolved(x, w, to, Device::cpu);
    const array cotangent = astype(random::normal(y.shape()), GetParam());
    eval(x, w, y, cotangent);
    const auto on = [&](Device device) {
      const auto function = [&](const std::vector<array>& arrays) {
        return std::vector<array>{convolved(arrays[0], arrays[1], to, device)};
      };
      auto [outputs, cotangents] = vjp(function, {x, w}, {cotangent});
      cotangents.push_back(outputs[0]);
      return cotangents;
    };
    const auto downloads = ::metal::transfer_statistics().downloads;
    const auto got = on(Device::gpu);
    eval(got);
    EXPECT_EQ(::metal::transfer_statistics().downloads, downloads);
    const auto want = on(Device::cpu);
    for (size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i]);
  }

 private:
  static void expect_close(const array& got, const array& want) {
    ASSERT_EQ(got.shape(), want.shape());
    const array a = astype(got, float32), b = astype(want, float32);
    const float size = max(abs(b)).item<float>();
    const float tolerance = GetParam() == bfloat16 ? 2e-2f : GetParam() == float16 ? 3e-3f : 1e-5f;
    EXPECT_LT(max(abs(subtract(a, b))).item<float>(), tolerance * (size + 1e-3f));
  }
};

INSTANTIATE_TEST_SUITE_P(Types, Convolutions, ::testing::Values(float32, float16, bfloat16),
                         [](const auto& info) { return std::string(dtype_to_string(info.param)); });

TEST_P(Convolutions, OfOneToThreeAxes) {
  expect_as_on_the_host({{2, 30, 5}, {7, 3, 5}, {1}, {1}, {1}, {1}});
  expect_as_on_the_host({{2, 9, 11, 8}, {16, 3, 2, 8}, {1, 1}, {1, 0}, {1, 1}, {1, 1}});
  expect_as_on_the_host(
      {{1, 5, 6, 7, 3}, {4, 2, 3, 2, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, {1, 1, 1}});
}

TEST_P(Convolutions, WithStridesAndDilations) {
  expect_as_on_the_host({{3, 20, 17, 4}, {6, 3, 3, 4}, {2, 3}, {1, 1}, {2, 1}, {1, 1}});
  expect_as_on_the_host({{3, 8, 9, 4}, {6, 3, 3, 4}, {1, 1}, {2, 1}, {1, 1}, {2, 3}});
  expect_as_on_the_host({{2, 12, 12, 16}, {2, 5, 5, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
}

TEST_P(Convolutions, OfGroups) {
  for (int channels : {1, 4, 16}) {
    expect_as_on_the_host({{2, 10, 9, 3 * channels},
                           {6 * channels, 3, 3, channels},
                           {1, 2},
                           {1, 1},
                           {1, 1},
                           {1, 1},
                           3});
  }
  expect_as_on_the_host({{2, 10, 9, 24}, {24, 3, 3, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 24});
}

TEST_P(Convolutions, ThatAreProductsOfMatrices) {
  expect_as_on_the_host({{2, 6, 7, 24}, {10, 1, 1, 24}, {1, 1}, {0, 0}, {1, 1}, {1, 1}});
  expect_as_on_the_host({{2, 6, 7, 48}, {32, 1, 1, 24}, {1, 1}, {0, 0}, {1, 1}, {1, 1}, 2});
}

TEST(LargeConvolutions, AreComputedInSteps) {
  // What the weights meet takes 1.2 GB.
  const array x = random::normal({4, 512, 512, 32}), w = random::normal({1, 3, 3, 32});
  const array got = conv2d(x, w, {1, 1}, {1, 1});
  const array want = conv2d(x, w, {1, 1}, {1, 1}, {1, 1}, 1, Device::cpu);
  EXPECT_TRUE(allclose(got, want, 1e-4f, 1e-3f).item<bool>());
}

}  // namespace
}  // namespace mlx::core::test
