#include "metal/cpu/discrete_driver.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "metal/constant_copies.h"
#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

// A device's memory has a second range of addresses for each device's heap, as long as that and
// with the same margins.
class TwinMemory : public Heap, public DeviceMemory {
 public:
  explicit TwinMemory(size_t number)
      : Heap([this](char* start, uint64_t bytes) { return commit(start, bytes); },
             physical_memory()),
        number_(number) {}

  // The memories of all devices.
  static std::array<TwinMemory*, kDiscreteDevices>& all();

  void* counterpart(void* host) const override {
    const size_t owner = owner_of(host);
    return ranges_.at(owner).base() + (static_cast<char*>(host) - all()[owner]->base());
  }
  void download(void* host, size_t bytes) override { std::memcpy(host, counterpart(host), bytes); }

 private:
  bool commit(char* start, uint64_t bytes) {
    for (TwinMemory* memory : all()) {
      if (!memory->ranges_[number_].commit(static_cast<uint64_t>(start + bytes - base()))) {
        return false;
      }
    }
    return true;
  }

  static size_t owner_of(const void* host) {
    const auto has = [host](const TwinMemory* memory) {
      return host >= memory->base() && host < memory->base() + memory->range_size();
    };
    return static_cast<size_t>(std::ranges::find_if(all(), has) - all().begin());
  }

  const size_t number_;
  std::array<ReservedRange, kDiscreteDevices> ranges_;
};

std::array<TwinMemory*, kDiscreteDevices>& TwinMemory::all() {
  static std::array<TwinMemory*, kDiscreteDevices> memories{new TwinMemory(0), new TwinMemory(1)};
  return memories;
}

class DiscreteStream : public Stream {
 public:
  DiscreteStream(std::unique_ptr<Stream> stream, TwinMemory& memory)
      : stream_(std::move(stream)),
        memory_(memory),
        constants_(memory.allocate_uncounted(ConstantCopies::kBlockBytes)) {}
  ~DiscreteStream() override { memory_.deallocate_uncounted(constants_); }

  void launch(const Kernel& kernel, const LaunchParameters& parameters) override {
    stream_->launch(kernel, parameters);
    constant_copies_.end_launch();
  }
  void wait() override { stream_->wait(); }
  void upload(void* host, size_t bytes) override {
    stream_->wait();
    std::memcpy(memory_.counterpart(host), host, bytes);
  }
  void copy_from(DeviceMemory& device, void* host, size_t bytes) override {
    stream_->wait();
    std::memcpy(memory_.counterpart(host), device.counterpart(host), bytes);
  }
  ConstantCopy copy_constant(const void* bytes, size_t count) override {
    if (!constants_) return {};
    return constant_copies_.find(memory_.counterpart(constants_),
                                 {static_cast<const char*>(bytes), count}, [&](char* to) {
                                   stream_->wait();
                                   std::memcpy(to, bytes, count);
                                 });
  }

 private:
  std::unique_ptr<Stream> stream_;
  TwinMemory& memory_;
  void* constants_;  // the block that holds copies of constants; null if there was no memory
  ConstantCopies constant_copies_;
};

class DiscreteDriver : public Driver {
 public:
  explicit DiscreteDriver(size_t number) : memory_(*TwinMemory::all().at(number)) {}

  const DeviceInfo& info() const override { return cpu_driver().info(); }
  Allocator& allocator() override { return memory_; }

  std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                     const ConstantValues& constants, std::string_view label,
                                     Checks checks) override {
    refuse_checks(checks, label);
    return cpu_driver().load(program, function, constants, label, checks);
  }

  std::unique_ptr<Stream> new_stream() override {
    return std::make_unique<DiscreteStream>(cpu_driver().new_stream(), memory_);
  }

  void interrupt() override { cpu_driver().interrupt(); }
  DeviceMemory* device_memory() override { return &memory_; }

 private:
  TwinMemory& memory_;
};

}  // namespace

Driver& open_discrete_device(size_t number) { return *new DiscreteDriver(number); }

}  // namespace metal::cpu
