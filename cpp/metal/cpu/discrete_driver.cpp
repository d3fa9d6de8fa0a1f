#include "metal/cpu/discrete_driver.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "metal/cpu/cpu_driver.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

// The device's memory is a second range of addresses, as long as the heap's and with the same
// margins.
class TwinMemory : public Heap, public DeviceMemory {
 public:
  TwinMemory()
      : Heap([this](char* start, uint64_t bytes) { return commit(start, bytes); },
             physical_memory()) {}

  void* counterpart(void* host) const override {
    return device_.base() + (static_cast<char*>(host) - base());
  }
  void download(void* host, size_t bytes) override { std::memcpy(host, counterpart(host), bytes); }

 private:
  bool commit(char* start, uint64_t bytes) {
    return device_.commit(static_cast<uint64_t>(start + bytes - base()));
  }

  ReservedRange device_;
};

class DiscreteStream : public Stream {
 public:
  DiscreteStream(std::unique_ptr<Stream> stream, TwinMemory& memory)
      : stream_(std::move(stream)), memory_(memory) {}

  void launch(const Kernel& kernel, const LaunchParameters& parameters) override {
    stream_->launch(kernel, parameters);
  }
  void wait() override { stream_->wait(); }
  void upload(void* host, size_t bytes) override {
    stream_->wait();
    std::memcpy(memory_.counterpart(host), host, bytes);
  }

 private:
  std::unique_ptr<Stream> stream_;
  TwinMemory& memory_;
};

class DiscreteDriver : public Driver {
 public:
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
  TwinMemory memory_;
};

}  // namespace

Driver& discrete_driver() {
  static DiscreteDriver& driver = *new DiscreteDriver;  // queues' threads may use it until the end
  return driver;
}

}  // namespace metal::cpu
