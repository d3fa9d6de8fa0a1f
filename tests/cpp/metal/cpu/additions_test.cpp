// Additions that are deferred: threadgroups on all cores add to the same rows and scalars.
#include "metal/cpu/runtime/additions.h"

#include <gtest/gtest.h>

#include "metal/native_kernel.h"

namespace metal::cpu {
namespace {

constexpr uint32_t kRows = 37;  // four to a region
constexpr uint32_t kNumbers = 5;
constexpr uint32_t kFarNumbers = 1 << 15;
constexpr uint32_t kCount = 3 * Additions::kMaxRows + 7;

void add(const Group* group, uint32_t) {
  auto* rows = test::argument<float>(group, 0);
  auto* numbers = test::argument<float>(group, 1);
  Additions& additions = *group->additions;
  for (uint32_t n = 0; n < kCount; ++n) {
    const uint32_t row = (group->position[0] + n * 5) % kRows;
    for (uint32_t i = 0; i < Additions::kRow; ++i)
      additions.addends[additions.rows][i] = static_cast<float>(i);
    additions.row[additions.rows] = rows + row * Additions::kRow;
    if (++additions.rows == additions.full_rows) metal_cpu_make_additions(group);
    additions.value[additions.scalars] = 1;
    additions.place[additions.scalars] = numbers + n % kNumbers;
    if (++additions.scalars == additions.full_scalars) metal_cpu_make_additions(group);
  }
}

TEST(Additions, ArriveOnce) {
  constexpr uint32_t kGroups = kRows * 60;  // every row as often
  const auto pipeline = test::pipeline({.entry = add, .granularity = Granularity::Group});
  test::Data<float> rows(kRows * Additions::kRow), numbers(kNumbers);
  ASSERT_EQ(test::run(pipeline.get(), {rows, numbers}, {kGroups * 32, 1, 1}, {32, 1, 1}), "");
  for (uint32_t i = 0; i < kRows * Additions::kRow; ++i)
    ASSERT_EQ(rows[i], i % Additions::kRow * kCount * kGroups / kRows) << i;
  for (uint32_t i = 0; i < kNumbers; ++i)
    ASSERT_EQ(numbers[i], (kCount + kNumbers - 1 - i) / kNumbers * kGroups) << i;
}

// Long lists of scalars in many regions are sorted.
void add_far_apart(const Group* group, uint32_t) {
  auto* numbers = test::argument<float>(group, 0);
  Additions& additions = *group->additions;
  for (uint32_t n = 0; n < kFarNumbers; ++n) {
    additions.value[additions.scalars] = static_cast<float>(n % 3);
    additions.place[additions.scalars] =
        numbers + uint64_t{n} * (2 * group->position[0] + 1) % kFarNumbers;
    if (++additions.scalars == additions.full_scalars) metal_cpu_make_additions(group);
  }
}

TEST(Additions, ArriveOnceFarApart) {
  constexpr uint32_t kGroups = 24;
  const auto pipeline = test::pipeline({.entry = add_far_apart, .granularity = Granularity::Group});
  test::Data<float> numbers(kFarNumbers);
  ASSERT_EQ(test::run(pipeline.get(), {numbers}, {kGroups * 32, 1, 1}, {32, 1, 1}), "");
  std::vector<float> expected(kFarNumbers);
  for (uint32_t group = 0; group < kGroups; ++group) {
    for (uint32_t n = 0; n < kFarNumbers; ++n)
      expected[uint64_t{n} * (2 * group + 1) % kFarNumbers] += static_cast<float>(n % 3);
  }
  for (uint32_t i = 0; i < kFarNumbers; ++i) ASSERT_EQ(numbers[i], expected[i]) << i;
}

}  // namespace
}  // namespace metal::cpu
