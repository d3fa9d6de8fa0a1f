// Groups of one process, and streams of threads, as C++ programs use them.
#include <gtest/gtest.h>

#include <thread>

#include "mlx/backend/cuda/cuda.h"
#include "mlx/distributed/distributed.h"
#include "mlx/distributed/ops.h"
#include "mlx/mlx.h"

namespace mlx::core::test {

TEST(Distributed, AGroupOfOneHasWhatItsProcessHas) {
  const auto group = distributed::init();
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  EXPECT_TRUE(distributed::is_available("ring"));
  EXPECT_FALSE(distributed::is_available("mpi"));
  const array x({1.0f, 2.0f});
  EXPECT_TRUE(array_equal(distributed::all_sum(x), x).item<bool>());
  EXPECT_TRUE(array_equal(distributed::all_gather(x, group), x).item<bool>());
  EXPECT_THROW(group.split(0), std::runtime_error);
  EXPECT_THROW(distributed::init(true), std::runtime_error);
  EXPECT_THROW(distributed::send(x, 1), std::invalid_argument);
  EXPECT_THROW(distributed::recv({2}, float32, 1), std::invalid_argument);
  EXPECT_FALSE(cu::is_available());
}

TEST(Streams, OfThreadsAreTheirOwn) {
  const auto local = new_thread_local_stream(Device::cpu);
  const Stream mine = to_stream(local);
  EXPECT_EQ(to_stream(StreamOrDevice(local)), mine);
  std::thread([&] {
    EXPECT_NE(to_stream(local), mine);
    EXPECT_EQ(add(array(1), array(2), local).item<int>(), 3);
    clear_streams();
  }).join();
  EXPECT_EQ(add(array(1), array(2), local).item<int>(), 3);
}

TEST(Streams, AreClearedByTheirThread) {
  std::thread([] {
    const Stream stream = new_stream(Device::cpu);
    array pending = add(array(1), array(2), stream);
    clear_streams();
    EXPECT_THROW(pending.eval(), std::runtime_error);
    EXPECT_THROW(get_stream(stream.index), std::invalid_argument);
    EXPECT_EQ(add(array(1), array(2), Device::cpu).item<int>(), 3);
  }).join();
}

TEST(Arrays, TellTheirBuffersSizes) {
  array x = ones({100});
  EXPECT_THROW(get_array_buffer_size({x}), std::invalid_argument);
  x.eval();
  EXPECT_EQ(get_array_buffer_size({x, x}), x.buffer_size());
}

TEST(Unique, HasTheSizeThatIsAsked) {
  const auto found = unique(array({2, 1, 2, 3, 1}), 4, array(0));
  EXPECT_TRUE(array_equal(found.values, array({1, 2, 3, 0})).item<bool>());
  EXPECT_TRUE(array_equal(found.counts, array({2, 2, 1, 0})).item<bool>());
}

}  // namespace mlx::core::test
