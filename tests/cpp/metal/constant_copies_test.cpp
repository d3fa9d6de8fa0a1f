#include "metal/constant_copies.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace metal::test {
namespace {

TEST(ConstantCopies, BytesAreFoundByTheirContents) {
  ConstantCopies copies;
  const auto first = copies.place_of("one"), second = copies.place_of("two");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->is_new && second->is_new);
  EXPECT_NE(first->offset, second->offset);
  const auto again = copies.place_of("one");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(again->offset, first->offset);
  EXPECT_TRUE(copies.place_of(std::string_view("one\0", 4))->is_new);
}

TEST(ConstantCopies, ManyBytesHaveNoPlace) {
  ConstantCopies copies;
  EXPECT_TRUE(copies.place_of(std::string(ConstantCopies::kMaxBytes, 'x')));
  EXPECT_FALSE(copies.place_of(std::string(ConstantCopies::kMaxBytes + 1, 'x')));
}

// Random launches: the block holds what each one was promised.
TEST(ConstantCopies, AFullBlockIsFreeAfterTheLaunch) {
  std::mt19937 random(1);
  ConstantCopies copies;
  std::string block(ConstantCopies::kBlockBytes, '\0');
  int found = 0, copied = 0, refused = 0;
  for (int launch = 0; launch < 5000; ++launch) {
    std::map<size_t, std::string> used;
    const auto constants = random() % 31;
    for (unsigned i = 0; i < constants; ++i) {
      std::string bytes = std::to_string(random() % 300);
      bytes.resize(1 + random() % ConstantCopies::kMaxBytes / (1 + random() % 100), 'x');
      const auto place = copies.place_of(bytes);
      if (!place) {
        ++refused;
        continue;
      }
      ASSERT_LE(place->offset + bytes.size(), block.size());
      if (place->is_new) block.replace(place->offset, bytes.size(), bytes);
      ++(place->is_new ? copied : found);
      used[place->offset] = bytes;
    }
    for (const auto& [offset, bytes] : used) ASSERT_EQ(block.substr(offset, bytes.size()), bytes);
    copies.end_launch();
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(copied, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace metal::test
