#include "metal/cuda/driver/cuda_driver.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "metal/cuda/driver/attention.h"
#include "metal/cuda/driver/convolutions.h"
#include "metal/cuda/driver/cuda_kernel.h"
#include "metal/cuda/driver/cuda_stream.h"
#include "metal/cuda/driver/fourier_transforms.h"
#include "metal/cuda/driver/gpu.h"
#include "metal/cuda/driver/gpu_memory.h"
#include "metal/cuda/driver/matrix_products.h"
#include "metal/process_end.h"

namespace metal::cuda {
namespace {

// While it exists, this thread may call NVIDIA's libraries, which end with the process.
class LibraryUse {
 public:
  explicit LibraryUse(const Gpu& gpu) {
    InUse::check();
    gpu.enter();
  }

 private:
  const InUse in_use_;
};

class CudaDriver : public Driver {
 public:
  explicit CudaDriver(size_t number) : gpu_(cuda_api(), number), memory_(gpu_) {
    info_.name = gpu_.name();
    info_.architecture = gpu_.architecture();
    info_.memory_size = gpu_.memory_size();
    info_.max_buffer_length = info_.memory_size;
    info_.recommended_working_set = info_.memory_size / 4 * 3;
  }

  const DeviceInfo& info() const override { return info_; }
  Allocator& allocator() override { return memory_; }

  std::shared_ptr<const Kernel> load(const Program& program, std::string_view function,
                                     const ConstantValues& constants, std::string_view label,
                                     Checks checks) override {
    refuse_checks(checks, label);
    return std::make_shared<CudaKernel>(gpu_, program.get(function), constants, label);
  }

  std::unique_ptr<Stream> new_stream() override {
    return std::make_unique<CudaStream>(gpu_, memory_);
  }

  void interrupt() override {}  // streams check interrupt_count() while they wait

  DeviceMemory* device_memory() override { return &memory_; }

  std::shared_ptr<const MatrixProductPlan> plan(const MatrixProduct& product) override {
    const LibraryUse use(gpu_);
    return plan_with_cublas(gpu_, product);
  }
  std::shared_ptr<const FourierTransformPlan> plan(const FourierTransform& transform) override {
    const LibraryUse use(gpu_);
    return plan_with_cufft(transform);
  }
  std::shared_ptr<const ConvolutionPlan> plan(const Convolution& convolution) override {
    const LibraryUse use(gpu_);
    return plan_with_cudnn(gpu_, convolution);
  }
  std::shared_ptr<const AttentionPlan> plan(const Attention& attention) override {
    const LibraryUse use(gpu_);
    return plan_with_cudnn(gpu_, attention);
  }

 private:
  Gpu gpu_;
  GpuMemory memory_;
  DeviceInfo info_;
};

template <typename Action>
auto with_reason(Action action) {
  try {
    return action();
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("No NVIDIA GPU can be used, which MLX_METAL_DEVICE=cuda "
                                         "asks for. ") +
                             error.what());
  }
}

}  // namespace

size_t gpu_count() {
  return with_reason([] { return count_gpus(cuda_api()); });
}

Driver& open_gpu(size_t number) {
  return *with_reason([number] { return new CudaDriver(number); });
}

}  // namespace metal::cuda
