// Parts of a loop, which threads take one after the other.
#include "metal/cpu/runtime/parallel_for.h"

#include <algorithm>
#include <atomic>

#include "metal/cpu/runtime/parallel.h"
#include "metal/sanitizers.h"

namespace metal::cpu {
namespace {

constexpr size_t kPartsPerThread = 8;  // several, so that no thread waits long for the last part

size_t parts_of(size_t n, size_t size) { return (n + size - 1) / size; }

// Each thread takes the next part until none is left.
struct Parts {
  const std::function<void(size_t, size_t)>& body;
  size_t n;
  size_t size;
  std::atomic<size_t> next{0};

  void take() {
    for (size_t first; (first = next.fetch_add(size, std::memory_order_relaxed)) < n;) {
      body(first, std::min(first + size, n));
    }
  }
};

void take_parts(void* parts) {
  METAL_HAPPENS_AFTER(parts);
  static_cast<Parts*>(parts)->take();
  METAL_HAPPENS_BEFORE(parts);
}

}  // namespace

void parallel_for(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body) {
  const size_t width = parallel_width();
  if (n <= grain || width == 1) {
    if (n > 0) body(0, n);
    return;
  }
  Parts parts{body, n, std::max(grain, parts_of(n, width * kPartsPerThread))};
  METAL_HAPPENS_BEFORE(&parts);
  run_parallel(std::min(width, parts_of(n, parts.size)), take_parts, &parts);
  METAL_HAPPENS_AFTER(&parts);
}

}  // namespace metal::cpu
