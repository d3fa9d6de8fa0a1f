// Tests that the copy of a buffer that somebody accesses is always the current one.
#include "metal/host/residency.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace metal::host {
namespace {

using Access = MTL::HostAccess;

// The host's memory, and devices whose memories are arrays at some distance from it.
struct FakeHost {
  std::vector<int> memory = std::vector<int>(8, -1);
};

struct FakeDevice : DeviceMemory {
  explicit FakeDevice(FakeHost& host) : host(host) {}

  void prepare(void*, size_t) override { prepared = true; }
  void* counterpart(void* address) const override {
    EXPECT_TRUE(prepared);
    return const_cast<int*>(memory.data()) + (static_cast<int*>(address) - host.memory.data());
  }
  void download(void* address, size_t bytes) override {
    ++downloads;
    std::memcpy(address, counterpart(address), bytes);
  }

  FakeHost& host;
  std::vector<int> memory = std::vector<int>(8, -2);
  bool prepared = false;
  int downloads = 0;
};

// Copies happen when the stream waits, unless a launch comes first.
struct FakeStream : Stream {
  explicit FakeStream(FakeDevice& device) : device(device) {}
  void launch(const Kernel&, const LaunchParameters&) override { finish_copies(); }
  void wait() override { finish_copies(); }
  void upload(void* host, size_t bytes) override {
    ++uploads;
    stage(host, host, bytes);
  }
  void copy_from(DeviceMemory& other, void* host, size_t bytes) override {
    ++peer_copies;
    stage(host, other.counterpart(host), bytes);
  }
  void stage(void* to, const void* from, size_t bytes) {
    const auto* first = static_cast<const int*>(from);
    staged.push_back({to, std::vector<int>(first, first + bytes / sizeof(int))});
  }
  void finish_copies() {
    for (const auto& [to, values] : staged) {
      std::memcpy(device.counterpart(to), values.data(), values.size() * sizeof(int));
    }
    staged.clear();
  }

  FakeDevice& device;
  std::vector<std::pair<void*, std::vector<int>>> staged;
  int uploads = 0, peer_copies = 0;
  Transfers buffer{*this, &device};  // of the command buffer that runs
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
    stream.finish_copies();
    int& on_device = stream.device.memory[0];
    if (known_ != kNothing) EXPECT_EQ(on_device, known_);
    if (writes) on_device = known_ = value;
  }
  void finish(FakeStream& stream) {
    stream.wait();
    if (unsettled_) residency_.settle(stream.buffer);
    unsettled_ = false;
  }

  static constexpr size_t kBytes = 8 * sizeof(int);
  static constexpr int kNothing = -1000;
  int& host() { return host_.memory[0]; }

  FakeHost host_;
  FakeDevice device_{host_}, other_device_{host_};
  FakeStream first_{device_}, second_{device_}, elsewhere_{other_device_};
  Residency residency_{host_.memory.data(), kBytes};
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
  device_.memory[5] = 9;
  host_reads(sizeof(int));
  EXPECT_NE(host_.memory[5], 9);
  host_reads();
  EXPECT_EQ(host_.memory[5], 9);
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

TEST_F(ResidencyTest, EachDeviceGetsACopyOnce) {
  launch(first_, true, 1);
  finish(first_);
  for (int i = 0; i < 2; ++i) {
    launch(elsewhere_, false);
    finish(elsewhere_);
    launch(first_, false);
    finish(first_);
  }
  EXPECT_EQ(elsewhere_.peer_copies, 1);
  EXPECT_EQ(first_.peer_copies, 0);
  launch(elsewhere_, true, 2);
  finish(elsewhere_);
  launch(first_, false);
  finish(first_);
  EXPECT_EQ(first_.peer_copies, 1);
  host_reads();
  EXPECT_EQ(device_.downloads, 0);
  EXPECT_EQ(other_device_.downloads, 1);
  host_writes(3);
  launch(first_, false);
  finish(first_);
  launch(elsewhere_, false);
  finish(elsewhere_);
  EXPECT_EQ(first_.uploads + elsewhere_.uploads, 2);
  EXPECT_EQ(first_.peer_copies + elsewhere_.peer_copies, 2);
}

TEST_F(ResidencyTest, TheHostReadsFromADeviceWhoseCopyIsComplete) {
  launch(first_, true, 4);
  finish(first_);
  unsettled_ = residency_.prepare_launch(elsewhere_.buffer, false);
  EXPECT_EQ(elsewhere_.staged.size(), 1u);
  host_reads();
  finish(elsewhere_);
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
    FakeStream* const streams[] = {&first_, &first_, &second_, &elsewhere_};
    FakeStream& stream = *streams[random() % 4];
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
