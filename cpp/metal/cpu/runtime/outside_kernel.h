// Keeps a kernel from being aborted while the runtime does work that must be completed.
#pragma once

#include "metal/cpu/abi.h"

namespace metal::cpu {

class Worker;

// A kernel may be aborted at any time, without any clean-up. While this object exists it is not, so
// the runtime can hold a lock. The destructor does not return if the kernel was stopped meanwhile.
class OutsideKernel {
 public:
  explicit OutsideKernel(const Group* group);
  explicit OutsideKernel(Worker& worker);  // that runs the kernel
  ~OutsideKernel();
  OutsideKernel(const OutsideKernel&) = delete;
  OutsideKernel& operator=(const OutsideKernel&) = delete;

  Worker& worker() const { return worker_; }

 private:
  Worker& worker_;
};

}  // namespace metal::cpu
