// Schedules: orders that are complete, differ, and can be had again.
#include "metal/cpu/runtime/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace metal::cpu {
namespace {

std::vector<uint64_t> order_of(uint32_t number, uint64_t count) {
  return Schedule(number).order(count);
}

TEST(Schedule, HasEveryThreadgroupOnce) {
  for (uint32_t number = 1; number < 20; ++number) {
    std::vector<uint64_t> order = order_of(number, 1000);
    std::ranges::sort(order);
    std::vector<uint64_t> natural(1000);
    std::iota(natural.begin(), natural.end(), 0);
    EXPECT_EQ(order, natural);
  }
  EXPECT_TRUE(order_of(3, 0).empty());
}

TEST(Schedule, TheFirstOneReverses) {
  EXPECT_EQ(order_of(1, 5), (std::vector<uint64_t>{4, 3, 2, 1, 0}));
}

TEST(Schedule, NumbersGiveOrdersThatDiffer) {
  std::set<std::vector<uint64_t>> seen;
  for (uint32_t number = 1; number <= 100; ++number) {
    seen.insert(order_of(number, 50));
    EXPECT_EQ(order_of(number, 50), order_of(number, 50));
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Schedule, ThreadgroupsChooseByThemselves) {
  Schedule one(7), other(7);
  one.order(100);
  const auto choices = [](Schedule& schedule, uint32_t x, uint32_t y) {
    schedule.start_threadgroup({x, y, 0});
    std::vector<uint64_t> chosen;
    for (int i = 0; i < 20; ++i) chosen.push_back(schedule.choose(1000));
    EXPECT_TRUE(std::ranges::all_of(chosen, [](uint64_t value) { return value < 1000; }));
    return chosen;
  };
  choices(one, 3, 4);
  EXPECT_EQ(choices(one, 1, 2), choices(other, 1, 2));
  EXPECT_NE(choices(one, 1, 2), choices(other, 2, 1));
}

}  // namespace
}  // namespace metal::cpu
