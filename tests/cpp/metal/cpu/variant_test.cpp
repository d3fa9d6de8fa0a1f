// The layout for threadgroups of each size.
#include "metal/cpu/variant.h"

#include <gtest/gtest.h>

namespace metal::cpu {
namespace {

constexpr uint32_t kNatural = 16;

Variant choose(Cooperation cooperation, uint32_t x, uint32_t y = 1, uint32_t z = 1) {
  return choose_variant(cooperation, {x, y, z}, x, kNatural);
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
