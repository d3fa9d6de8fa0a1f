// Tests attention in one kernel on a device with memory of its own, beside operations on scores.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "mlx/mlx.h"
#include "mlx/primitives.h"

namespace mlx::core::test {
namespace {

struct Sizes {
  int batch, heads, key_heads, queries, keys;
};

std::vector<array> operands(const Sizes& s, int depth, Dtype dtype) {
  const auto numbers = [&](int heads, int length) {
    return astype(random::normal({s.batch, heads, length, depth}), dtype);
  };
  return {numbers(s.heads, s.queries), numbers(s.key_heads, s.keys), numbers(s.key_heads, s.keys)};
}

array attend(const std::vector<array>& x, bool causal) {
  return fast::scaled_dot_product_attention(x[0], x[1], x[2], 0.125f, causal ? "causal" : "");
}

bool is_kernel(const array& out) { return typeid(out.primitive()) == typeid(Attention); }

class AttentionKernel : public ::testing::TestWithParam<std::tuple<Dtype, int, bool>> {
 protected:
  void expect_as_by_scores(const std::vector<array>& x) {
    const auto [dtype, depth, causal] = GetParam();
    const array out = attend(x, causal);
    ASSERT_TRUE(is_kernel(out));
    std::vector<array> wide;
    for (const array& each : x) wide.push_back(astype(each, float32));
    const array expected =
        attention_by_scores(wide[0], wide[1], wide[2], 0.125f, causal, default_stream(Device::gpu));
    const float tolerance = dtype == float16 ? 4e-3f : 3e-2f;
    EXPECT_TRUE(allclose(astype(out, float32), expected, tolerance, tolerance).item<bool>());
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, AttentionKernel,
                         ::testing::Combine(::testing::Values(float16, bfloat16),
                                            ::testing::Values(64, 128), ::testing::Bool()));

TEST_P(AttentionKernel, BlocksAndTheirEdges) {
  const auto [dtype, depth, causal] = GetParam();
  for (const Sizes& sizes :
       {Sizes{1, 2, 1, 16, 16}, Sizes{1, 1, 1, 64, 64}, Sizes{2, 6, 2, 70, 100},
        Sizes{1, 2, 2, 129, 200}, Sizes{1, 1, 1, 300, 300}, Sizes{0, 1, 1, 16, 16}})
    expect_as_by_scores(operands(sizes, depth, dtype));
}

TEST_P(AttentionKernel, Views) {
  const auto [dtype, depth, causal] = GetParam();
  const array x = astype(random::normal({2, 50, 3, depth + 8}), dtype);
  // Rows of a transposed array, rows of a part that begins at a multiple of eight, and at another.
  for (int first : {0, 8, 3}) {
    const array part = slice(x, {0, 0, 0, first}, {2, 50, 3, first + depth});
    const array rows = transpose(part, {0, 2, 1, 3});
    expect_as_by_scores({rows, rows, rows});
  }
  const array one = broadcast_to(slice(x, {0, 0, 0, 0}, {1, 50, 1, depth}), {2, 50, 3, depth});
  const array rows = transpose(one, {0, 2, 1, 3});
  expect_as_by_scores({rows, rows, rows});
}

TEST_P(AttentionKernel, LargeScores) {
  const auto [dtype, depth, causal] = GetParam();
  std::vector<array> x = operands({1, 1, 1, 32, 90}, depth, dtype);
  x[0] = multiply(x[0], array(30.0f, dtype));
  expect_as_by_scores(x);
}

TEST(AttentionKernels, OnlyWhereTheyPay) {
  const std::vector<array> x = operands({1, 2, 2, 20, 20}, 64, float16);
  EXPECT_TRUE(is_kernel(attend(x, false)));
  EXPECT_FALSE(is_kernel(attend(operands({1, 2, 2, 4, 20}, 64, float16), false)));
  EXPECT_FALSE(is_kernel(attend(operands({1, 2, 2, 20, 20}, 96, float16), false)));
  EXPECT_FALSE(is_kernel(attend(operands({1, 2, 2, 20, 20}, 64, float32), false)));
  EXPECT_FALSE(is_kernel(attend(operands({1, 2, 2, 20, 10}, 64, float16), true)));
  EXPECT_FALSE(is_kernel(fast::scaled_dot_product_attention(x[0], x[1], x[2], 1.0f, "array",
                                                            zeros({20, 20}, float16))));
}

void expect_near(const array& x, const array& y) {
  EXPECT_TRUE(allclose(astype(x, float32), astype(y, float32), 1e-2, 1e-2).item<bool>());
}

TEST(AttentionKernels, Derivatives) {
  const std::vector<array> x = operands({1, 2, 1, 20, 24}, 64, float16);
  const auto by_scores = [](const std::vector<array>& in) {
    return std::vector{
        attention_by_scores(in[0], in[1], in[2], 0.125f, true, default_stream(Device::gpu))};
  };
  const array out = attend(x, true);
  const array cotangent = astype(random::normal(out.shape()), float16);
  const auto expected = vjp(by_scores, x, {cotangent}).second;
  // While a gradient is traced there is no kernel; functions that were exported may have one.
  const auto traced = vjp(
      [](const std::vector<array>& in) { return std::vector{attend(in, true)}; }, x, {cotangent});
  const auto of_kernel = out.primitive().vjp(x, {cotangent}, {0, 1, 2}, {out});
  for (size_t i = 0; i < x.size(); ++i) {
    expect_near(traced.second[i], expected[i]);
    expect_near(of_kernel[i], expected[i]);
  }
  const auto tangents = operands({1, 2, 1, 20, 24}, 64, float16);
  expect_near(out.primitive().jvp(x, tangents, {0, 1, 2})[0],
              jvp(by_scores, x, tangents).second[0]);
}

TEST(AttentionKernels, Files) {
  const std::string path = ::testing::TempDir() + "attention.mlxfn";
  const std::vector<array> x = operands({1, 2, 1, 20, 24}, 64, float16);
  export_function(
      path, [](const std::vector<array>& in) { return std::vector{attend(in, true)}; }, x);
  const array out = import_function(path)(x)[0];
  EXPECT_TRUE(is_kernel(out));
  expect_near(out, attend(x, true));
}

TEST(AttentionKernels, Vmap) {
  std::vector<array> x;
  for (const array& each : operands({6, 2, 1, 20, 24}, 64, float16))
    x.push_back(unflatten(each, 0, {3, 2}));
  const auto fun = [](const std::vector<array>& in) { return std::vector{attend(in, false)}; };
  const array mapped = vmap(fun, {0, 0, 0})(x)[0];
  for (int i = 0; i < 3; ++i) {
    std::vector<array> part;
    for (const array& each : x) part.push_back(take(each, i, 0));
    expect_near(take(mapped, i, 0), fun(part)[0]);
  }
}

}  // namespace
}  // namespace mlx::core::test
