// Random numbers: the published generator bit for bit, and the moments of distributions.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "mlx/check.h"
#include "mlx/ops.h"
#include "mlx/random.h"
#include "mlx/transforms.h"

namespace mlx::core::test {

namespace {

// Threefry-2x32 with 20 rounds as Salmon et al. publish it.
std::array<uint32_t, 2> threefry(std::array<uint32_t, 2> key, std::array<uint32_t, 2> x) {
  const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint32_t schedule[3] = {key[0], key[1], 0x1BD11BDAu ^ key[0] ^ key[1]};
  x[0] += schedule[0];
  x[1] += schedule[1];
  for (int round = 0; round < 20; ++round) {
    x[0] += x[1];
    int r = rotations[round % 8];
    x[1] = ((x[1] << r) | (x[1] >> (32 - r))) ^ x[0];
    if (round % 4 == 3) {
      int n = round / 4 + 1;
      x[0] += schedule[n % 3];
      x[1] += schedule[(n + 1) % 3] + n;
    }
  }
  return x;
}

std::vector<uint32_t> words(array a) {
  a.eval();
  return {a.data<uint32_t>(), a.data<uint32_t>() + a.size()};
}

constexpr int kDraws = 100000;

void expect_moments(const array& draws, double mean_value, double variance) {
  auto v = values(draws);
  double m = 0, s = 0;
  for (double x : v) {
    m += x / v.size();
  }
  for (double x : v) {
    s += (x - m) * (x - m) / v.size();
  }
  double error = 5 * std::sqrt(variance / v.size());
  EXPECT_NEAR(m, mean_value, error);
  EXPECT_NEAR(s, variance, 0.05 * variance);
}

}  // namespace

TEST(Random, ReferenceGivesThePublishedVectors) {
  EXPECT_EQ(threefry({0, 0}, {0, 0}), (std::array<uint32_t, 2>{0x6b200159u, 0x99ba4efeu}));
  EXPECT_EQ(threefry({~0u, ~0u}, {~0u, ~0u}), (std::array<uint32_t, 2>{0x1cb996fcu, 0xbb002be7u}));
  EXPECT_EQ(threefry({0x13198a2eu, 0x03707344u}, {0x243f6a88u, 0x85a308d3u}),
            (std::array<uint32_t, 2>{0xc4923a9cu, 0x483df7a0u}));
}

TEST(Random, BitsAreThreefrysWords) {
  const std::array<uint32_t, 2> key{7, 1234567};
  for (uint32_t n : {1u, 2u, 3u, 10u, 257u}) {
    uint32_t half = (n + 1) / 2;
    std::vector<uint32_t> expected(n);
    for (uint32_t i = 0; i < half; ++i) {
      bool lone = half + i >= n;
      auto out = threefry(key, {i, lone ? 0 : half + i});
      expected[i] = out[0];
      if (!lone) {
        expected[half + i] = out[1];
      }
    }
    array k(key.begin(), {2}, uint32);
    EXPECT_EQ(words(random::bits({static_cast<int>(n)}, 4, k)), expected) << n;
  }
}

TEST(Random, KeysAreReproducible) {
  EXPECT_EQ(words(random::key(0x100000002ull)), (std::vector<uint32_t>{1, 2}));
  array a = random::normal({4}, random::key(3));
  array b = random::normal({4}, random::key(3));
  EXPECT_TRUE(array_equal(a, b).item<bool>());
  random::seed(5);
  array c = random::uniform({4});
  random::seed(5);
  EXPECT_TRUE(array_equal(c, random::uniform({4})).item<bool>());
  EXPECT_FALSE(array_equal(c, random::uniform({4})).item<bool>());
}

TEST(Random, MapsOverKeys) {
  array keys = random::split(random::key(1), 3);
  array mapped = vmap([](const array& k) { return random::uniform({5}, k); })(keys);
  for (int i = 0; i < 3; ++i) {
    expect_close(take(mapped, i, 0), random::uniform({5}, take(keys, i, 0)), 0);
  }
}

TEST(Random, Moments) {
  array k = random::key(42);
  expect_moments(random::uniform(-1.0f, 3.0f, {kDraws}, float32, k), 1, 16.0 / 12);
  expect_moments(random::normal({kDraws}, 2.0f, 3.0f, k), 2, 9);
  expect_moments(random::bernoulli(0.3f, {kDraws}, k), 0.3, 0.21);
  expect_moments(random::randint(-3, 4, {kDraws}, int32, k), 0, 4);
  expect_moments(random::gumbel({kDraws}, float32, k), 0.57721566, M_PI * M_PI / 6);
  expect_moments(random::laplace({kDraws}, k), 0, 2);
}

TEST(Random, StaysInRange) {
  array k = random::key(9);
  for (Dtype t : {float16, bfloat16, float32}) {
    array u = random::uniform(0.0f, 1.0f, {kDraws}, t, k);
    EXPECT_EQ(u.dtype(), t);
    EXPECT_TRUE(all(logical_and(greater_equal(u, array(0.0f)), less(u, array(1.0f)))).item<bool>());
    EXPECT_TRUE(all(isfinite(random::normal({kDraws}, t, k))).item<bool>());
  }
  array r = random::randint(5, 8, {kDraws}, uint8, k);
  EXPECT_EQ(min(r, false).item<uint8_t>(), 5);
  EXPECT_EQ(max(r, false).item<uint8_t>(), 7);
  array t = random::truncated_normal(array(-0.5f), array(1.0f), {kDraws}, float32, k);
  EXPECT_GE(min(t, false).item<float>(), -0.5f);
  EXPECT_LE(max(t, false).item<float>(), 1.0f);
}

TEST(Random, CategoricalFollowsTheLogits) {
  array logits = log(array({0.1f, 0.2f, 0.7f}));
  array draws = random::categorical(logits, -1, kDraws, random::key(0));
  EXPECT_EQ(draws.shape(), (Shape{kDraws}));
  expect_moments(equal(draws, array(2)), 0.7, 0.21);
  EXPECT_EQ(random::categorical(zeros({2, 3, 4}), 1, Shape{5, 2, 4}).shape(), (Shape{5, 2, 4}));
}

TEST(Random, PermutationsHoldEverythingOnce) {
  array p = random::permutation(100, random::key(2));
  expect_close(sort(p), arange(100), 0);
  array rows = random::permutation(reshape(arange(12), {4, 3}), 0, random::key(2));
  expect_close(sort(rows, 0), reshape(arange(12), {4, 3}), 0);
}

TEST(Random, MultivariateNormalHasTheCovariance) {
  array cov = array({2.0f, 0.5f, 0.5f, 1.0f}, {2, 2});
  array x =
      random::multivariate_normal(array({1.0f, -1.0f}), cov, {kDraws}, float32, random::key(4));
  array centered = subtract(x, mean(x, 0));
  array estimate = divide(matmul(transpose(centered), centered), array(static_cast<float>(kDraws)));
  expect_close(estimate, cov, 0.03);
}

}  // namespace mlx::core::test
