// Tests that the copy of a buffer that somebody accesses is always the current one.
#include "metal/host/residency.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace metal::host {
namespace {

using Access = MTL::HostAccess;

// A device whose memory is an array, at some distance from the host's. Uploads happen when the
// stream waits, unless a launch comes first.
struct FakeDevice : DeviceMemory {
  std::vector<int> host = std::vector<int>(8, -1), device = std::vector<int>(8, -2);
  int downloads = 0;

  void* counterpart(void* address) const override {
    return const_cast<int*>(device.data()) + (static_cast<int*>(address) - host.data());
  }
  void download(void* address, size_t bytes) override {
    ++downloads;
    std::memcpy(address, counterpart(address), bytes);
  }
};

struct FakeStream : Stream {
  explicit FakeStream(FakeDevice& device) : device(device) {}
  void launch(const Kernel&, const LaunchParameters&) override { finish_uploads(); }
  void wait() override { finish_uploads(); }
  void upload(void* host, size_t bytes) override {
    ++uploads;
    const auto* first = static_cast<const int*>(host);
    staged.push_back({host, std::vector<int>(first, first + bytes / sizeof(int))});
  }
  void finish_uploads() {
    for (const auto& [to, values] : staged) {
      std::memcpy(device.counterpart(to), values.data(), values.size() * sizeof(int));
    }
    staged.clear();
  }

  FakeDevice& device;
  std::vector<std::pair<void*, std::vector<int>>> staged;
  int uploads = 0;
  Transfers buffer{*this, true};  // of the command buffer that runs
};

class ResidencyTest : public ::testing::Test {
 protected:
  void host_writes(int value) {
    residency_.prepare_host(Access::Write, 0, kBytes);
    EXPECT_TRUE(known_ == kNothing || host() == known_);
    host() = known_ = value;
  }
  void host_reads(size_t count = kBytes) {
    residency_.prepare_host(Access::Read, 0, count);
    if (known_ != kNothing) EXPECT_EQ(host(), known_);
  }
  void launch(FakeStream& stream, bool writes, int value = 0) {
    unsettled_ |= residency_.prepare_launch(stream.buffer, writes);
    stream.finish_uploads();
    if (known_ != kNothing) EXPECT_EQ(on_device(), known_);
    if (writes) on_device() = known_ = value;
  }
  void finish(FakeStream& stream) {
    stream.wait();
    if (unsettled_) residency_.settle(stream.buffer);
    unsettled_ = false;
  }

  static constexpr size_t kBytes = 8 * sizeof(int);
  static constexpr int kNothing = -1000;
  int& host() { return device_.host[0]; }
  int& on_device() { return device_.device[0]; }

  FakeDevice device_;
  FakeStream first_{device_}, second_{device_};
  Residency residency_{device_.host.data(), kBytes, device_};
  int known_ = kNothing;  // what an access must see
  bool unsettled_ = false;
};

TEST_F(ResidencyTest, CopiesOnlyWhenTheOtherSideNeedsIt) {
  launch(first_, true, 1);  // new memory
  launch(first_, false);
  finish(first_);
  EXPECT_EQ(first_.uploads, 0);
  EXPECT_EQ(device_.downloads, 0);
  host_reads();
  host_reads();
  EXPECT_EQ(device_.downloads, 1);
  launch(first_, false);
  EXPECT_EQ(first_.uploads, 0);
  host_writes(2);
  launch(first_, false);
  launch(first_, true, 3);
  finish(first_);
  EXPECT_EQ(first_.uploads, 1);
  EXPECT_EQ(device_.downloads, 1);
  host_reads();
  EXPECT_EQ(device_.downloads, 2);
}

TEST_F(ResidencyTest, AddressesCopyNothing) {
  residency_.prepare_host(Access::Address, 0, kBytes);
  host() = known_ = 5;  // new memory is the host's from then on
  launch(first_, true, 6);
  residency_.prepare_host(Access::Address, 0, kBytes);
  EXPECT_EQ(device_.downloads, 0);
  finish(first_);
  host_reads();
}

TEST_F(ResidencyTest, PartsAreReadAlone) {
  launch(first_, true, 7);
  finish(first_);
  device_.device[5] = 9;
  host_reads(sizeof(int));
  EXPECT_NE(device_.host[5], 9);
  host_reads();
  EXPECT_EQ(device_.host[5], 9);
}

TEST_F(ResidencyTest, AnotherStreamDoesNotCountOnAnUploadThatMayStillRun) {
  host_writes(1);
  unsettled_ = residency_.prepare_launch(first_.buffer, false);
  EXPECT_EQ(first_.uploads, 1);
  launch(second_, false);
  EXPECT_EQ(second_.uploads, 1);
  finish(second_);
  launch(second_, false);
  EXPECT_EQ(second_.uploads, 1);
}

TEST_F(ResidencyTest, SharedMemoryIsCopiedForEachCommandBuffer) {
  launch(first_, true, 1);
  finish(first_);
  residency_.begin_sharing();
  EXPECT_EQ(host(), 1);
  for (int i = 2; i < 6; i += 2) {
    host() = known_ = i;
    launch(first_, false);
    launch(first_, true, i + 1);
    launch(first_, false);
    finish(first_);
    EXPECT_EQ(host(), i + 1);
  }
  EXPECT_EQ(first_.uploads, 2);
  residency_.end_sharing();
  launch(first_, true, 8);
  finish(first_);
  EXPECT_NE(host(), 8);
  host_reads();
}

TEST_F(ResidencyTest, RandomAccessesSeeWhatIsCurrent) {
  std::mt19937 random(1);
  bool shared = false;
  for (int i = 0; i < 20000; ++i) {
    FakeStream& stream = random() % 4 ? first_ : second_;
    switch (random() % 6) {
      case 0:
        shared ? void(host() = known_ = i) : host_writes(i);
        break;
      case 1:
        host_reads(random() % 2 ? kBytes : sizeof(int));
        break;
      case 2:
        shared ? residency_.end_sharing() : residency_.begin_sharing();
        shared = !shared;
        break;
      default:  // a command buffer
        for (unsigned n = random() % 3; n > 0; --n) launch(stream, random() % 2, i);
        launch(stream, random() % 2, -i);
        finish(stream);
    }
    if (shared && known_ != kNothing) ASSERT_EQ(host(), known_) << i;
  }
}

}  // namespace
}  // namespace metal::host
