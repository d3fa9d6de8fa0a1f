// Helpers for evaluation: memory for results, and the package's kernels.
#pragma once

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "mlx/backend/metal/device.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Allocates the memory of an output, row-contiguous.
void allocate(mx::array& out);
void allocate(std::vector<mx::array>& outputs);

// Uninitialised memory for one evaluation; with `temporary` it lives until the stream has used it.
mx::array uninitialized(mx::Shape shape, mx::Dtype dtype);
mx::array temporary(mx::Shape shape, mx::Dtype dtype, mx::Stream s);

// Whether kernels of the device's streams run in memory of its own, as on an NVIDIA GPU. Then the
// host should not compute between kernels, and many more threads are needed to keep it busy.
bool has_own_memory(const mx::Device& device);

using FunctionConstant = std::variant<int, bool>;

// A kernel of the library beside this module, specialised by the function constants 0, 1, ...
MTL::ComputePipelineState* find_kernel(const std::string& name, mx::Stream s,
                                       std::initializer_list<FunctionConstant> constants = {});

// A call of a kernel; arguments are bound one after the other.
class KernelCall {
 public:
  static constexpr size_t kThreadgroup = 256;  // threads

  KernelCall(MTL::ComputePipelineState* kernel, mx::Stream s)
      : encoder_(mx::metal::get_command_encoder(s)) {
    encoder_.set_compute_pipeline_state(kernel);
  }

  template <typename T>
  KernelCall& bytes(const T& value) {
    encoder_.set_bytes(value, next_++);
    return *this;
  }
  template <typename T>
  KernelCall& vector(const T& values) {
    encoder_.set_vector_bytes(values, next_++);
    return *this;
  }
  KernelCall& in(const mx::array& a) {
    encoder_.set_input_array(a, next_++);
    return *this;
  }
  KernelCall& out(mx::array& a) {
    encoder_.set_output_array(a, next_++);
    return *this;
  }
  // Threads along x, in threadgroups, and along y.
  void run(size_t x, size_t y = 1) {
    encoder_.dispatch_threads(MTL::Size(x, y, 1), MTL::Size(kThreadgroup, 1, 1));
  }
  // Whole threadgroups.
  void run_threadgroups(size_t x, size_t y, size_t z = 1) {
    encoder_.dispatch_threadgroups(MTL::Size(x, y, z), MTL::Size(kThreadgroup, 1, 1));
  }

 private:
  mx::metal::CommandEncoder& encoder_;
  int next_ = 0;
};

}  // namespace mlx_sample
