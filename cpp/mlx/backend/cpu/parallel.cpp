// parallel_for, on oneTBB.
#include "mlx/backend/cpu/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace mlx::core::cpu {

void parallel_for(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body) {
  if (n <= grain) {
    if (n > 0) body(0, n);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<size_t>(0, n, grain),
                    [&](const auto& part) { body(part.begin(), part.end()); });
}

}  // namespace mlx::core::cpu
