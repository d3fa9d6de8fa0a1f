// Makes the end of the process wait for threads that use LLVM or oneTBB, as exit() destroys these.
#pragma once

#include "metal/api.h"

namespace metal {

// The end of the process waits while such an object exists. After the process has begun to end,
// check() throws, and the thread must not use these libraries.
class InUse {
 public:
  InUse();
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

  // Throws std::runtime_error if the process is ending.
  static void check();
};

// Waits until no such object exists, and lets no work start any more. The handlers of `exit` run in
// the reverse order of their registration, so variables that LLVM creates late are destroyed before
// our handler waits. A host that is told of the end earlier, such as Python, calls this then.
METAL_API void end_use();

}  // namespace metal
