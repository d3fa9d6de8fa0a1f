// Which arrays later work of a stream may overwrite, while earlier work is in flight.
#include <gtest/gtest.h>

#include "mlx/backend/common/kept_memory.h"
#include "mlx/mlx.h"

namespace mlx::core {
namespace {

Stream stream_of_index(int index) { return Stream(index, Device::gpu); }

TEST(KeptMemory, CountsTheReferencesOfOneStream) {
  array a({1.0f, 2.0f});
  const auto& data = a.data_shared_ptr();
  EXPECT_TRUE(is_kept_only_by(a, stream_of_index(7)));
  KeptMemory first(7), second(7), other(8);
  first.add(data);
  first.add(data);
  second.add(data);
  EXPECT_TRUE(is_kept_only_by(a, stream_of_index(7)));
  EXPECT_FALSE(is_kept_only_by(a, stream_of_index(8)));
  EXPECT_EQ(data.use_count(), 4);

  other.add(data);
  EXPECT_FALSE(is_kept_only_by(a, stream_of_index(7)));
  other.clear();
  EXPECT_TRUE(is_kept_only_by(a, stream_of_index(7)));
  {
    const auto somebody = data;
    EXPECT_FALSE(is_kept_only_by(a, stream_of_index(7)));
  }

  KeptMemory moved(std::move(first));
  first.clear();
  EXPECT_EQ(data->kept, 3u);
  second.clear();
  moved.clear();
  EXPECT_EQ(data.use_count(), 1);
  other.add(data);
  EXPECT_TRUE(is_kept_only_by(a, stream_of_index(8)));
}

}  // namespace
}  // namespace mlx::core
