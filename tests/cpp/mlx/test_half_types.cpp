// The 16-bit floats of the host, as extensions use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "mlx/dtype.h"
#include "mlx/types/limits.h"

namespace mlx::core::test {
namespace {

template <typename T>
class HalfTypes : public ::testing::Test {};
using Types = ::testing::Types<float16_t, bfloat16_t>;
TYPED_TEST_SUITE(HalfTypes, Types);

TYPED_TEST(HalfTypes, AreCompared) {
  const TypeParam one(1.0f), two(2.0f);
  EXPECT_TRUE(one < two && one <= two && two > one && two >= one && one != two);
  EXPECT_FALSE(two < one || two <= one || one > two || one >= two || one == two);
  EXPECT_TRUE(TypeParam(0.0f) == TypeParam(-0.0f));
  EXPECT_EQ(std::max(one, two), two);
  EXPECT_EQ(std::min(one, two), one);
}

TYPED_TEST(HalfTypes, AreComparedWithNumbers) {
  const TypeParam two(2.0f);
  EXPECT_TRUE(two > 1 && 1.5f < two && two == 2.0 && two != 3 && two <= 2u);
}

TYPED_TEST(HalfTypes, NansAreUnordered) {
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN()), one(1.0f);
  EXPECT_FALSE(nan == nan || nan < one || nan > one || nan <= one || nan >= one);
  EXPECT_TRUE(nan != nan && nan != one);
}

TYPED_TEST(HalfTypes, Limits) {
  using Limits = numeric_limits<TypeParam>;
  EXPECT_EQ(Limits::infinity(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Limits::lowest(), -Limits::max());
  EXPECT_LT(Limits::max(), Limits::infinity());
  EXPECT_EQ(TypeParam(Limits::max() * 1.01f), Limits::infinity());
  EXPECT_EQ(numeric_limits<float>::max(), std::numeric_limits<float>::max());
}

TEST(Complex, NumbersAndRealNumbers) {
  const complex64_t z(1, 2);
  EXPECT_EQ(z + 1.0f, complex64_t(2, 2));
  EXPECT_EQ(2.0f * z, complex64_t(2, 4));
  EXPECT_EQ(z - 1, complex64_t(0, 2));
  EXPECT_EQ(1.0 - z, complex64_t(0, -2));
  EXPECT_EQ(z / float16_t(2), complex64_t(0.5, 1));
  EXPECT_EQ(bfloat16_t(5) / z, complex64_t(1, -2));
}

}  // namespace
}  // namespace mlx::core::test
