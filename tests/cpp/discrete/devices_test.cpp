// Tests of several devices with memories of their own, of which the driver "discrete" has two.
#include <gtest/gtest.h>

#include <Metal/Metal.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "metal/driver.h"
#include "mlx/mlx.h"

namespace mlx::core::test {
namespace {

const Device kFirst{Device::gpu, 0}, kSecond{Device::gpu, 1};

uint64_t active_memory(size_t device) {
  return ::metal::driver_of_device(device).allocator().statistics().active;
}

TEST(Devices, AreCounted) {
  EXPECT_EQ(device_count(Device::gpu), 2);
  EXPECT_TRUE(is_available(kSecond));
  EXPECT_FALSE(is_available(Device(Device::gpu, 2)));
  EXPECT_FALSE(is_available(Device(Device::gpu, -1)));
  EXPECT_FALSE(is_available(Device(Device::cpu, 1)));
  EXPECT_THROW(set_default_device(Device(Device::gpu, 2)), std::invalid_argument);
  EXPECT_THROW(new_stream(Device(Device::gpu, 2)), std::invalid_argument);
  EXPECT_EQ(device_info(kSecond).count("device_name"), 1u);
  EXPECT_NE(default_stream(kFirst), default_stream(kSecond));
  EXPECT_EQ(default_stream(kSecond).device, kSecond);
}

TEST(Devices, MetalListsThem) {
  auto all = NS::TransferPtr(MTL::CopyAllDevices());
  ASSERT_EQ(all->count(), 2u);
  auto first = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  EXPECT_EQ(all->object(0), first.get());
  auto second = NS::TransferPtr(MTL::CreateDevice(1));
  EXPECT_EQ(all->object(1), second.get());
  EXPECT_FALSE(first->hasUnifiedMemory());
}

TEST(Devices, ResultsLieWhereTheyAreComputed) {
  array x = ones({1000});
  x.eval();
  const uint64_t before[] = {active_memory(0), active_memory(1)};
  array y = add(x, x, kSecond);
  y.eval();
  EXPECT_EQ(active_memory(0), before[0]);
  EXPECT_GE(active_memory(1), before[1] + y.nbytes());
  EXPECT_EQ(sum(y, kFirst).item<float>(), 2000);
}

TEST(Devices, TheDefaultDeviceIsUsed) {
  set_default_device(kSecond);
  EXPECT_EQ(default_device(), kSecond);
  const uint64_t before[] = {active_memory(0), active_memory(1)};
  const std::vector<float> numbers(5000, 1.5f);
  array x(numbers.begin(), {50, 100});
  array y = matmul(x, transpose(x));
  EXPECT_EQ(y.primitive().stream().device, kSecond);
  y.eval();
  EXPECT_EQ(active_memory(0), before[0]);
  EXPECT_GE(active_memory(1), before[1] + x.nbytes() + y.nbytes());
  set_default_device(kFirst);
  EXPECT_EQ(sum(y).item<float>(), 225 * 2500);
  {
    const StreamContext context(kSecond);
    EXPECT_EQ(default_device(), kSecond);
  }
  EXPECT_EQ(default_device(), kFirst);
}

TEST(Devices, ArraysGoBetweenThemOnceForEachUse) {
  array weights = random::normal({64, 64});
  weights.eval();
  const auto before = ::metal::transfer_statistics();
  array x = ones({64, 64});
  for (int i = 0; i < 5; ++i) {
    x = matmul(x, weights, kSecond);
    x = divide(x, max(abs(x, kFirst), kFirst), kFirst);
  }
  x.eval();
  const auto after = ::metal::transfer_statistics();
  EXPECT_EQ(after.downloads, before.downloads);
}

// Chains of operations on either device and on the host, with in-place reuse of memory, give the
// same numbers as on one device.
TEST(Devices, RandomChainsGiveTheSameNumbersAnywhere) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<array> here, anywhere;
    for (int i = 0; i < 3; ++i) {
      here.push_back(astype(arange(i, 100 + i), float32));
      anywhere.push_back(here.back());
    }
    for (int step = 0; step < 30; ++step) {
      const Device places[] = {kFirst, kSecond, Device::cpu};
      const Device device = places[random() % 3];
      const size_t a = random() % 3, b = random() % 3;
      const auto apply = [&](std::vector<array>& arrays, Device where, unsigned kind) {
        switch (kind) {
          case 0:
            arrays[a] = add(arrays[a], arrays[b], where);
            break;
          case 1:
            arrays[a] = multiply(arrays[b], array(0.5f), where);
            break;
          case 2:
            arrays[a] = slice_update(arrays[a], slice(arrays[b], Shape{0}, Shape{40}, where),
                                     Shape{3}, Shape{43}, where);
            break;
          case 3:
            arrays[a] = roll(arrays[a], 7, where);
            break;
          default:
            arrays[a].eval();
        }
      };
      const unsigned kind = random() % 5;
      apply(here, kFirst, kind);
      apply(anywhere, device, kind);
    }
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(array_equal(here[i], anywhere[i]).item<bool>());
  }
}

}  // namespace
}  // namespace mlx::core::test
