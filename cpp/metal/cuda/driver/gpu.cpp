#include "metal/cuda/driver/gpu.h"

#include <stdexcept>

#include "metal/cuda/architectures.h"
#include "metal/driver.h"

namespace metal::cuda {
namespace {

constexpr int kOldestDriver = 12000;  // CUDA 12.0, in the form of cuDriverGetVersion
constexpr int kOldestCapability = 80;

void check_call(const Api& api, Result result, const char* action) {
  if (result == Result::Success) return;
  throw std::runtime_error(std::string("Unable to ") + action + ": " + api.describe(result));
}

}  // namespace

size_t count_gpus(const Api& api) {
  check_call(api, api.cuInit(0), "start NVIDIA's driver");
  int count = 0;
  check_call(api, api.cuDeviceGetCount(&count), "count the GPUs");
  if (count == 0) throw std::runtime_error("NVIDIA's driver sees no GPU");
  return static_cast<size_t>(count);
}

Gpu::Gpu(const Api& api, size_t number) : api_(api), number_(number), forks_(fork_count()) {
  count_gpus(api_);
  int version = 0;
  check(api_.cuDriverGetVersion(&version), "read the driver's version");
  if (version < kOldestDriver) {
    throw std::runtime_error("NVIDIA's driver is too old: it is made for CUDA " +
                             std::to_string(version / 1000) + "." +
                             std::to_string(version % 1000 / 10) + ", and 12.0 is needed");
  }
  open();
  describe_code(version);
}

void Gpu::open() {
  check(api_.cuDeviceGet(&device_, static_cast<int>(number_)), "open the GPU");
  char name[256] = {};
  check(api_.cuDeviceGetName(name, sizeof(name) - 1, device_), "read the GPU's name");
  name_ = name;
  check(api_.cuDeviceTotalMem_v2(&memory_size_, device_), "read the size of the GPU's memory");
  check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "open the GPU's context");
  check(api_.cuCtxSetCurrent(context_), "use the GPU's context");
}

void Gpu::describe_code(int driver_version) {
  const int capability = attribute(DeviceAttribute::ComputeCapabilityMajor) * 10 +
                         attribute(DeviceAttribute::ComputeCapabilityMinor);
  if (capability < kOldestCapability) {
    throw std::runtime_error(name_ + " has compute capability " + std::to_string(capability / 10) +
                             "." + std::to_string(capability % 10) + ", and 8.0 is needed");
  }
  architecture_ = newest_architecture(capability);
  code_key_ = "sm_" + std::to_string(capability) + " driver " + std::to_string(driver_version);
}

int Gpu::attribute(DeviceAttribute attribute) const {
  int value = 0;
  check(api_.cuDeviceGetAttribute(&value, attribute, device_), "read a fact about the GPU");
  return value;
}

bool Gpu::can_access(const Gpu& other) const {
  int can = 0;
  const Result result = api_.cuDeviceCanAccessPeer(&can, device_, other.device_);
  return result == Result::Success && can != 0;
}

bool Gpu::is_forked() const { return fork_count() != forks_; }

void Gpu::enter() const {
  if (is_forked()) {
    throw std::runtime_error(
        "The NVIDIA GPU cannot be used in a process made by fork(): start a new one instead (in "
        "Python, multiprocessing's method 'spawn')");
  }
  if (lost_.load()) {
    const std::lock_guard lock(mutex_);
    throw std::runtime_error("The NVIDIA GPU is lost to this process: " + reason_);
  }
  check(api_.cuCtxSetCurrent(context_), "use the GPU's context");
}

bool Gpu::try_enter() const noexcept {
  return !is_forked() && !lost_.load() && api_.cuCtxSetCurrent(context_) == Result::Success;
}

void Gpu::check(Result result, const char* action) const { check_call(api_, result, action); }

void Gpu::lose(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (lost_.exchange(true)) return;
  reason_ = reason;
}

}  // namespace metal::cuda
