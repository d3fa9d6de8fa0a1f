#include "metal/cpu/runtime/snapshot.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "metal/cpu/runtime/memory.h"
#include "metal/cpu/runtime/parallel.h"
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

}  // namespace

Snapshot::Snapshot(const FunctionInfo& kernel, const CheckedLaunch& launch) {
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (argument.kind != ArgumentKind::Buffer || !argument.writable) continue;
    const CheckedLaunch::Extent& extent = launch.buffers[argument.index];
    if (!extent.bytes) continue;
    // Not from the system, which would have to clear it.
    auto* copy = static_cast<char*>(Heap::instance().allocate(extent.bytes));
    complete_ &= copy != nullptr;
    if (!complete_) return;
    parts_.push_back({&argument, const_cast<char*>(extent.begin), copy, extent.bytes});
    Copy{copy, extent.begin, extent.bytes}.run();
  }
}

Snapshot::~Snapshot() {
  for (const Part& part : parts_) Heap::instance().deallocate(part.copy);
}

void Snapshot::restore() const {
  for (const Part& part : parts_) Copy{part.begin, part.copy, part.bytes}.run();
}

}  // namespace metal::cpu
