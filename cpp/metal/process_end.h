// At its end the process waits for threads that use LLVM or oneTBB, which are destroyed then.
#pragma once

#include "metal/api.h"

namespace metal {

// While one exists, the end of the process waits. One that is made later sees that it ends, and
// must leave those libraries (LLVM, oneTBB) alone.
class InUse {
 public:
  InUse();
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  // Where the process ends, throws std::runtime_error.
  static void check();
};

// Waits for all of them, and lets none start any more. The handlers of `exit` run in the reverse
// order of their registration, so that variables which LLVM made late are destroyed before ours
// waits: a host that knows of the end earlier, as Python does, calls this then.
METAL_API void end_use();

}  // namespace metal
