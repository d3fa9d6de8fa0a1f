// The cache that drops the least recently used entries.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "mlx/bounded_cache.h"

namespace mlx::core::test {

TEST(BoundedCache, ForgetsWhatWasNotAskedForLongest) {
  BoundedCache<std::string, int> cache(3);
  int made = 0;
  auto get = [&](const char* key) { return cache.get(key, [&] { return ++made; }); };
  EXPECT_EQ(get("a"), 1);
  EXPECT_EQ(get("b"), 2);
  EXPECT_EQ(get("c"), 3);
  EXPECT_EQ(get("a"), 1);
  EXPECT_EQ(get("d"), 4);  // in place of b
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(get("a"), 1);
  EXPECT_EQ(get("c"), 3);
  EXPECT_EQ(get("b"), 5);  // in place of d
  EXPECT_EQ(get("d"), 6);  // in place of a
  EXPECT_EQ(get("c"), 3);
  EXPECT_EQ(cache.size(), 3u);
}

TEST(BoundedCache, HoldsNothingForValuesThatFail) {
  BoundedCache<int, int> cache(2);
  auto fail = []() -> int { throw std::runtime_error("no value"); };
  EXPECT_THROW(cache.get(1, fail), std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.get(1, [] { return 5; }), 5);
}

TEST(BoundedCache, FreesWhatItForgetsAndCanBeMoved) {
  BoundedCache<int, std::shared_ptr<int>> cache(1);
  std::weak_ptr<int> first = cache.get(1, [] { return std::make_shared<int>(1); });
  auto moved = std::move(cache);
  EXPECT_EQ(*moved.get(1, [] { return std::make_shared<int>(2); }), 1);
  moved.get(2, [] { return std::make_shared<int>(2); });
  EXPECT_TRUE(first.expired());
}

}  // namespace mlx::core::test
