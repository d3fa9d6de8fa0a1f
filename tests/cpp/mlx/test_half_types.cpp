// The 16-bit floats of the host, as extensions use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "mlx/dtype.h"

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

}  // namespace
}  // namespace mlx::core::test
