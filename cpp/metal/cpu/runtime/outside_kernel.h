// What the runtime does for a kernel that must not be left halfway.
#pragma once

#include "metal/cpu/abi.h"

namespace metal::cpu {

class Worker;

// A kernel may be stopped or fault at any time, and is then left without a trace: not while it
// holds a lock, or memory of its own. The end of this may be the end of the kernel.
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
