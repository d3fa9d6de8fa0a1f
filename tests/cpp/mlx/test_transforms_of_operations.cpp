// Every operation's jvp, vjp and vmap rules, against finite differences and against a loop.
#include <gtest/gtest.h>

#include <numeric>

#include "mlx/cases.h"
#include "mlx/check.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace mlx::core::test {

namespace {

constexpr float kStep = 1e-2f;

class Operations : public testing::TestWithParam<size_t> {
 protected:
  const Case& c = cases()[GetParam()];
};

std::vector<array> like(const std::vector<array>& arrays, int seed) {
  std::vector<array> out;
  for (const auto& a : arrays) {
    out.push_back(sample(a.shape(), -1, 1, seed++));
  }
  return out;
}

std::vector<array> moved(const std::vector<array>& inputs, const std::vector<array>& direction,
                         float by) {
  std::vector<array> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.push_back(add(inputs[i], multiply(array(by), direction[i])));
  }
  return out;
}

double dot(const std::vector<array>& a, const std::vector<array>& b) {
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    auto x = values(a[i]);
    auto y = values(b[i]);
    total += std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
  return total;
}

}  // namespace

TEST_P(Operations, TangentsMatchFiniteDifferences) {
  auto direction = like(c.inputs, 10);
  auto [outputs, tangents] = jvp(c.fun, c.inputs, direction);
  auto after = c.fun(moved(c.inputs, direction, kStep));
  auto before = c.fun(moved(c.inputs, direction, -kStep));
  for (size_t i = 0; i < outputs.size(); ++i) {
    SCOPED_TRACE(c.name);
    array slope = divide(subtract(after[i], before[i]), array(2 * kStep));
    expect_close(tangents[i], slope, 2e-2);
  }
}

TEST_P(Operations, CotangentsAreTheTransposeOfTangents) {
  auto direction = like(c.inputs, 20);
  auto tangents = jvp(c.fun, c.inputs, direction).second;
  auto cotangents = like(tangents, 30);
  auto pulled_back = vjp(c.fun, c.inputs, cotangents).second;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    EXPECT_EQ(pulled_back[i].shape(), c.inputs[i].shape()) << c.name;
  }
  double expected = dot(tangents, cotangents);
  EXPECT_NEAR(dot(pulled_back, direction), expected, 1e-4 * (1 + std::abs(expected))) << c.name;
}

TEST_P(Operations, MapsLikeALoop) {
  // Maps each input alone, then all of them, with the mapped axis last.
  for (size_t which = 0; which <= c.inputs.size(); ++which) {
    std::vector<array> inputs;
    std::vector<int> axes;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      bool map = which == c.inputs.size() || which == i;
      const array& x = c.inputs[i];
      inputs.push_back(map ? stack({x, multiply(x, array(1.1f)), multiply(x, array(0.9f))}, -1)
                           : x);
      axes.push_back(map ? static_cast<int>(x.ndim()) : -1);
    }
    auto mapped = vmap(c.fun, axes)(inputs);
    for (int element = 0; element < 3; ++element) {
      std::vector<array> arguments;
      for (size_t i = 0; i < inputs.size(); ++i) {
        arguments.push_back(axes[i] < 0 ? inputs[i] : take(inputs[i], element, axes[i]));
      }
      auto expected = c.fun(arguments);
      for (size_t i = 0; i < expected.size(); ++i) {
        SCOPED_TRACE(c.name);
        expect_close(take(mapped[i], element, 0), expected[i]);
      }
    }
  }
}

TEST_P(Operations, GradientsOfGradientsExist) {
  // The gradient of a gradient must build and run, and be finite where the function is smooth.
  auto loss = [this](const std::vector<array>& inputs) {
    array total(0.0f);
    for (const auto& out : c.fun(inputs)) {
      total = add(total, sum(square(out)));
    }
    return total;
  };
  auto first = [&](const std::vector<array>& inputs) {
    return sum(square(grad(loss, 0)(inputs)[0]));
  };
  array second = grad(first, 0)(c.inputs)[0];
  EXPECT_EQ(second.shape(), c.inputs[0].shape());
  EXPECT_TRUE(all(isfinite(second)).item<bool>()) << c.name;
}

INSTANTIATE_TEST_SUITE_P(All, Operations, testing::Range<size_t>(0, cases().size()),
                         [](const auto& info) { return cases()[info.param].name; });

}  // namespace mlx::core::test
