// Tests products with quantised matrices on a device with memory of its own, beside the host's.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

float allowed_error(Dtype dtype) { return dtype == bfloat16 ? 2e-2f : 3e-3f; }

// The largest difference, relative to the largest number.
float largest_error(const array& got, const array& want) {
  const array x = astype(got, float32), y = astype(want, float32);
  return max(abs(subtract(x, y))).item<float>() / (max(abs(y)).item<float>() + 1e-3f);
}

class QuantizedRows : public ::testing::TestWithParam<std::tuple<Dtype, int, int>> {
 protected:
  Dtype dtype() const { return std::get<0>(GetParam()); }
  int bits() const { return std::get<1>(GetParam()); }
  int group_size() const { return std::get<2>(GetParam()); }

  array random_vectors(Shape shape) const { return astype(random::normal(shape), dtype()); }
  std::vector<array> random_rows(Shape shape) const {
    auto parts = quantize(random_vectors(shape), group_size(), bits());
    eval(parts);
    return parts;
  }
  array product(const array& x, const std::vector<array>& w, StreamOrDevice s = {}) const {
    return quantized_matmul(x, w[0], w[1], w[2], true, group_size(), bits(), "affine", s);
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, QuantizedRows,
                         ::testing::Combine(::testing::Values(float16, bfloat16, float32),
                                            ::testing::Values(4, 8),
                                            ::testing::Values(32, 64, 128)),
                         [](const auto& info) {
                           return std::string(dtype_to_string(std::get<0>(info.param))) + "_" +
                                  std::to_string(std::get<1>(info.param)) + "_" +
                                  std::to_string(std::get<2>(info.param));
                         });

TEST_P(QuantizedRows, TimesFewVectors) {
  for (const int columns : {128, 384, 1024, 2176}) {
    for (const int rows : {8, 16, 40}) {
      const auto w = random_rows({rows, columns});
      for (const int vectors : {1, 2, 8, 9}) {
        const array x = random_vectors({vectors, columns});
        EXPECT_LT(largest_error(product(x, w), product(x, w, Device::cpu)), allowed_error(dtype()))
            << columns << " " << rows << " " << vectors;
      }
    }
  }
}

TEST_P(QuantizedRows, ThatIndicesChoose) {
  const auto w = random_rows({3, 24, 256});
  const array x = random_vectors({2, 2, 256}), lhs({0, 1, -1}), rhs({2, -1, 0});
  const auto chosen = [&](StreamOrDevice s) {
    return gather_qmm(x, w[0], w[1], w[2], lhs, rhs, true, group_size(), bits(), "affine",
                      std::nullopt, false, s);
  };
  EXPECT_LT(largest_error(chosen({}), chosen(Device::cpu)), allowed_error(dtype()));
}

// An infinite element reaches the results of its own vector only.
TEST_P(QuantizedRows, KeepVectorsApart) {
  const auto w = random_rows({24, 256});
  const array x = random_vectors({3, 256});
  const array infinity(std::numeric_limits<float>::infinity(), dtype());
  const array marked = slice_update(x, reshape(infinity, {1, 1}), Shape{1, 7}, Shape{2, 8});
  const array got = product(marked, w), want = product(x, w, Device::cpu);
  for (const int vector : {0, 2}) {
    EXPECT_LT(largest_error(take(got, vector, 0), take(want, vector, 0)), allowed_error(dtype()));
  }
  EXPECT_FALSE(any(isfinite(take(got, 1, 0))).item<bool>());
}

}  // namespace
}  // namespace mlx::core::test
