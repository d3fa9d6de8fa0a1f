// The layout for threadgroups of each size.
#include "metal/cpu/variant.h"

#include <gtest/gtest.h>

namespace metal::cpu {
namespace {

constexpr uint32_t kNatural = 16;

Variant choose(Cooperation cooperation, uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  return choose_variant({.cooperation = cooperation, .natural_width = kNatural}, {x, y, z}, x);
}

TEST(Variant, FreeThreadsAlongRows) {
  const auto wide = choose(Cooperation::None, 256);
  EXPECT_EQ(wide.layout, ThreadLayout::Rows);
  EXPECT_EQ(wide.width, kNatural);
  EXPECT_EQ(wide.row_multiple, 64u);
  EXPECT_EQ(choose(Cooperation::None, 24).row_multiple, 1u);
  EXPECT_EQ(choose(Cooperation::None, 9, 2).width, 8u);
  EXPECT_EQ(choose(Cooperation::None, 3, 100).layout, ThreadLayout::Ragged);
}

TEST(Variant, FewIndependentThreadsByThemselves) {
  EXPECT_EQ(choose(Cooperation::None, 1), Variant{});
  EXPECT_EQ(choose(Cooperation::None, 1, 3), Variant{});
  EXPECT_EQ(choose(Cooperation::None, 2, 2).layout, ThreadLayout::Ragged);
}

TEST(Variant, ThreadsThatWait) {
  EXPECT_EQ(choose(Cooperation::Barriers, 40).width, 8u);
  EXPECT_EQ(choose(Cooperation::Barriers, 40).layout, ThreadLayout::Full);
  EXPECT_EQ(choose(Cooperation::Barriers, 1).layout, ThreadLayout::Ragged);
}

TEST(Variant, GangsWithinDividedRows) {
  const GangTraits traits{
      .cooperation = Cooperation::Barriers, .natural_width = kNatural, .widest_waiting = 8};
  EXPECT_EQ(choose_variant(traits, {64, 1, 1}, 64).width, 8u);
  EXPECT_EQ(choose_variant(traits, {20, 1, 1}, 20).layout, ThreadLayout::Ragged);
}

TEST(Variant, JoinedGroups) {
  GangTraits traits{.cooperation = Cooperation::Barriers, .natural_width = 32};
  EXPECT_EQ(groups_to_join(traits, {8, 8, 1}, 512), (JoinedGroups{2, 0, 8}));
  EXPECT_FALSE(groups_to_join(traits, {16, 8, 1}, 512).any());  // whole lines
  EXPECT_FALSE(groups_to_join(traits, {8, 8, 2}, 512).any());
  EXPECT_FALSE(groups_to_join(traits, {24, 4, 1}, 512).any());
  EXPECT_FALSE(groups_to_join(traits, {8, 16, 1}, 512).any());   // too many sums
  EXPECT_FALSE(groups_to_join(traits, {8, 8, 1}, 20000).any());  // too much memory
  EXPECT_FALSE(groups_to_join(traits, {4, 8, 1}, 512).any());    // shorter than a gang
  traits.group_dimension = 1;
  EXPECT_EQ(groups_to_join(traits, {8, 4, 1}, 512), (JoinedGroups{4, 1, 4}));
  EXPECT_FALSE(groups_to_join(traits, {8, 6, 1}, 512).any());
  traits = {.cooperation = Cooperation::Barriers, .natural_width = 32, .widest_waiting = 8};
  EXPECT_EQ(groups_to_join(traits, {64, 1, 1}, 512), (JoinedGroups{2, 0, 64}));
  traits.cooperation = Cooperation::SimdGroups;
  EXPECT_FALSE(groups_to_join(traits, {64, 1, 1}, 512).any());
}

TEST(Variant, GangsInRows) {
  Variant rows = choose(Cooperation::Barriers, 64, 4);
  allow_jam(rows, {64, 4, 1});
  EXPECT_EQ(rows.gangs_in_row, 2u);
  EXPECT_EQ(rows.rows, 4u);
  Variant layers = choose(Cooperation::Barriers, 64, 4, 2);
  allow_jam(layers, {64, 4, 2});
  EXPECT_EQ(layers.gangs_in_row, 0u);
  Variant ragged = choose(Cooperation::Barriers, 20, 4);
  allow_jam(ragged, {20, 4, 1});
  EXPECT_EQ(ragged.gangs_in_row, 0u);
}

TEST(Variant, GangsAtOnce) {
  auto gangs_at_once = [](uint32_t x) {
    Variant variant = choose(Cooperation::SimdGroups, x);
    allow_gangs_at_once(variant, {x, 1, 1});
    return variant.gangs_at_once;
  };
  EXPECT_EQ(gangs_at_once(256), 4u);
  EXPECT_EQ(gangs_at_once(64), 2u);
  EXPECT_EQ(gangs_at_once(96), 1u);
  EXPECT_EQ(gangs_at_once(40), 1u);
}

TEST(Variant, SimdGroups) {
  EXPECT_EQ(choose(Cooperation::SimdGroups, 64, 3).layout, ThreadLayout::Full);
  const auto ragged = choose(Cooperation::SimdGroups, 1);
  EXPECT_EQ(ragged.layout, ThreadLayout::Ragged);
  EXPECT_EQ(ragged.width, kSimdWidth);
}

}  // namespace
}  // namespace metal::cpu
