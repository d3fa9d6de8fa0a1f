// A launch that stops for a debugger.
#pragma once

#include <cstdint>
#include <vector>

#include "metal/cpu/abi.h"
#include "metal/cpu/checks/check_abi.h"
#include "metal/debugger.h"
#include "metal/driver.h"

namespace metal::cpu {

class Dispatch;

// What each thread of the running threadgroup runs.
class DebuggedRun {
 public:
  DebuggedRun(const Dispatch& dispatch, const Kernel& kernel)
      : dispatch_(dispatch), kernel_(kernel) {}
  void start_threadgroup(uint32_t threads);

  // Called from kernel code.
  void enter(uint32_t thread, const char* description);
  void declare(uint32_t thread, uint32_t number, uint64_t address);
  // Returns when the thread may go on.
  void reach(const Group& group, uint32_t thread, const CheckSite& site, uint32_t number);
  void leave(uint32_t thread);

 private:
  const Dispatch& dispatch_;
  const Kernel& kernel_;
  // By thread: the functions, and the last line that each has run.
  std::vector<std::vector<DebugFrame>> frames_;
  std::vector<std::vector<uint32_t>> lines_;
};

}  // namespace metal::cpu
