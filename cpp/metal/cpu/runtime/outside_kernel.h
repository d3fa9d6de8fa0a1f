// Protects work of the runtime that must not be stopped halfway when its kernel is stopped.
#pragma once

#include "metal/cpu/abi.h"

namespace metal::cpu {

class Worker;

// A kernel may be stopped, or fault, at any time, and then cleans nothing up. While this object
// exists it is not stopped, so that the runtime may hold a lock. It may end when this is destroyed.
class OutsideKernel {
 public:
  explicit OutsideKernel(const Group* group);
  ~OutsideKernel();
  OutsideKernel(const OutsideKernel&) = delete;
  OutsideKernel& operator=(const OutsideKernel&) = delete;

  Worker& worker() const { return worker_; }

 private:
  Worker& worker_;
};

}  // namespace metal::cpu
