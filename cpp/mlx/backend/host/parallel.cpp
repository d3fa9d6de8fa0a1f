// parallel_for, on the Metal runtime's pool of threads.
#include "mlx/backend/host/parallel.h"

#include <algorithm>
#include <atomic>

#include "metal/cpu/runtime/parallel.h"
#include "metal/sanitizers.h"

namespace mlx::core::cpu {

namespace {

constexpr size_t kPartsPerThread = 8;  // several, so that no thread waits long for the last part

size_t divide_up(size_t value, size_t unit) { return (value + unit - 1) / unit; }

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

size_t parallel_width() { return ::metal::cpu::parallel_width(); }

void parallel_for(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body) {
  const size_t width = parallel_width();
  if (n <= grain || width == 1) {
    if (n > 0) body(0, n);
    return;
  }
  Parts parts{body, n, std::max(grain, divide_up(n, width * kPartsPerThread))};
  METAL_HAPPENS_BEFORE(&parts);
  ::metal::cpu::run_parallel(std::min(width, divide_up(n, parts.size)), take_parts, &parts);
  METAL_HAPPENS_AFTER(&parts);
}

}  // namespace mlx::core::cpu
