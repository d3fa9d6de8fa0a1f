// Finds the names that misspelt ones mean.
#include "metal/spelling.h"

#include <gtest/gtest.h>

namespace metal::test {
namespace {

TEST(Spelling, NearestName) {
  const std::vector<std::string> names = {"scale_float", "scale_half", "reverse"};
  EXPECT_EQ(nearest_name("scale_flaot", names), "scale_float");
  EXPECT_EQ(nearest_name("scale_hal", names), "scale_half");
  EXPECT_EQ(nearest_name("reverse", names), "reverse");
  EXPECT_EQ(nearest_name("reverb", names), std::nullopt);  // two of six characters
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(Spelling, NearestFirst) {
  const std::vector<std::string> names = {"zebra", "scale_half", "scale_float"};
  EXPECT_EQ(nearest_first("scale_float", names, 3), "scale_float, scale_half and zebra");
  EXPECT_EQ(nearest_first("zebras", names, 2), "zebra, scale_half and 1 more");
  EXPECT_EQ(nearest_first("zebras", names, 1), "zebra and 2 more");
  EXPECT_EQ(nearest_first("c", {"b", "a"}, 9), "a and b");  // as far, so by the alphabet
  EXPECT_EQ(nearest_first("c", {"b"}, 9), "b");
  EXPECT_EQ(nearest_first("c", {}, 9), "");
}

}  // namespace
}  // namespace metal::test
