// At its end the process waits for threads that use LLVM or oneTBB, which are destroyed then.
#pragma once

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

}  // namespace metal
