// Additions that are deferred: threadgroups on all cores add to the same rows and scalars.
#include "metal/cpu/runtime/additions.h"

#include <gtest/gtest.h>

#include "metal/native_kernel.h"

namespace metal::cpu {
namespace {

constexpr uint32_t kRows = 37;  // four to a region
constexpr uint32_t kNumbers = 5;
constexpr uint32_t kCount = 3 * Additions::kMax + 7;

void add(const Group* group, uint32_t) {
  auto* rows = test::argument<float>(group, 0);
  auto* numbers = test::argument<float>(group, 1);
  Additions& additions = *group->additions;
  for (uint32_t n = 0; n < kCount; ++n) {
    const uint32_t row = (group->position[0] + n * 5) % kRows;
    for (uint32_t i = 0; i < Additions::kRow; ++i)
      additions.addends[additions.rows][i] = static_cast<float>(i);
    additions.row[additions.rows] = rows + row * Additions::kRow;
    if (++additions.rows == Additions::kMax) metal_cpu_make_additions(group);
    additions.value[additions.scalars] = 1;
    additions.place[additions.scalars] = numbers + n % kNumbers;
    if (++additions.scalars == Additions::kMax) metal_cpu_make_additions(group);
  }
}

TEST(Additions, ArriveOnce) {
  constexpr uint32_t kGroups = kRows * 60;  // every row as often
  const auto pipeline = test::pipeline({.entry = add, .granularity = Granularity::Group});
  test::Data<float> rows(kRows * Additions::kRow), numbers(kNumbers);
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto queue = NS::TransferPtr(test::device()->newCommandQueue());
  auto commands = NS::TransferPtr(queue->newCommandBuffer());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(rows, 0, 0);
  encoder->setBuffer(numbers, 0, 1);
  encoder->dispatchThreadgroups({kGroups, 1, 1}, {32, 1, 1});
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  for (uint32_t i = 0; i < kRows * Additions::kRow; ++i)
    ASSERT_EQ(rows[i], i % Additions::kRow * kCount * kGroups / kRows) << i;
  for (uint32_t i = 0; i < kNumbers; ++i)
    ASSERT_EQ(numbers[i], (kCount + kNumbers - 1 - i) / kNumbers * kGroups) << i;
}

}  // namespace
}  // namespace metal::cpu
