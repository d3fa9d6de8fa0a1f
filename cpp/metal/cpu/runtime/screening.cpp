#include "metal/cpu/runtime/screening.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "metal/cpu/checks/stamp.h"
#include "metal/cpu/codegen/jit.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/parallel.h"
#include "metal/cpu/runtime/shadow_buffers.h"
#include "metal/sanitizers.h"

namespace metal::cpu {
namespace {

constexpr uint64_t kCopyBytes = uint64_t{1} << 20;  // by one core at a time

// On all cores: buffers may be large.
struct Copy {
  char* to;
  const char* from;
  uint64_t bytes;
  std::atomic<uint64_t> next{0};

  void run() {
    const uint64_t parts = (bytes + kCopyBytes - 1) / kCopyBytes;
    auto work = [](void* context) { static_cast<Copy*>(context)->copy_parts(); };
    METAL_HAPPENS_BEFORE(this);
    run_parallel(std::min<uint64_t>(parts, parallel_width()), work, this);
    METAL_HAPPENS_AFTER(this);
  }

 private:
  void copy_parts() {
    METAL_HAPPENS_AFTER(this);
    for (;;) {
      const uint64_t start = next.fetch_add(kCopyBytes, std::memory_order_relaxed);
      if (start >= bytes) break;
      std::memcpy(to + start, from + start, std::min(kCopyBytes, bytes - start));
    }
    METAL_HAPPENS_BEFORE(this);
  }
};

// What is in the memory that a kernel may write. A screen lets it write nowhere else.
class Snapshot {
 public:
  Snapshot(const FunctionInfo& kernel, const CheckedLaunch& launch) {
    for (const ArgumentInfo& argument : kernel.arguments) {
      if (argument.kind != ArgumentKind::Buffer || !argument.writable) continue;
      const CheckedLaunch::Extent& extent = launch.buffers[argument.index];
      if (!extent.bytes) continue;
      // Not from the system, which would have to clear it.
      auto* copy = static_cast<char*>(Heap::instance().allocate(extent.bytes));
      complete_ &= copy != nullptr;
      if (!complete_) return;
      parts_.push_back({const_cast<char*>(extent.begin), copy, extent.bytes});
      Copy{copy, extent.begin, extent.bytes}.run();
    }
  }
  ~Snapshot() {
    for (const Part& part : parts_) Heap::instance().deallocate(part.copy);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  bool complete() const { return complete_; }  // there was memory for it
  void restore() const {
    for (const Part& part : parts_) Copy{part.begin, part.copy, part.bytes}.run();
  }

 private:
  struct Part {
    char* begin;
    char* copy;
    uint64_t bytes;
  };
  std::vector<Part> parts_;
  bool complete_ = true;
};

// Whether nothing is suspected. If something is, memory is as it was before.
bool passes(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters) {
  Dispatch screen(kernel, code, parameters, /*screens=*/true);
  // Each buffer has stamps of its own, and a stamp has no more bits.
  if (screen.shares_results() || screen.groups() + 1 >= uint64_t{1} << kStampGroupBits)
    return false;
  const Snapshot before(kernel.info, *parameters.checked);
  if (!before.complete()) return false;
  try {
    screen.run();
    if (!screen.shadows() || screen.shadows()->all_written()) return true;
  } catch (const LaunchError& error) {
    // A fault may come from what the exact checks report.
    if (error.fault == LaunchFault::Interrupted || error.fault == LaunchFault::TimeLimit) throw;
  }
  before.restore();
  return false;
}

}  // namespace

void run_checked(const Kernel& kernel, const CpuKernel& machine_code, const CpuKernel* screen,
                 const LaunchParameters& parameters) {
  try {
    if (screen && passes(kernel, *screen, parameters)) return;
  } catch (const std::bad_alloc&) {
    // The process has no address space for the stamps: nothing has run.
  }
  Dispatch(kernel, machine_code, parameters).run();
}

}  // namespace metal::cpu
