// The general code of a kernel that also has speculative code for coherent gangs. Many kernels
// never need it, so the first gang that does compiles it.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "metal/cpu/abi.h"

namespace metal::cpu {

class GeneralCode {
 public:
  using Load = std::function<void*()>;  // returns the code's address

  explicit GeneralCode(Load load) : load_(std::move(load)) {}

  // Called from within a kernel. If the code cannot be loaded, the launch ends with an error.
  void* get(const Group* group);

 private:
  void load(const Group* group);

  std::atomic<void*> code_{nullptr};
  std::mutex mutex_;
  Load load_;
};

}  // namespace metal::cpu

extern "C" void* metal_cpu_general_code(const metal::cpu::Group* group,
                                        metal::cpu::GeneralCode* code);
