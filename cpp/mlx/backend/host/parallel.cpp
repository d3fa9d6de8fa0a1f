// The Metal runtime's loops, for extensions too, which do not get its headers.
#include "mlx/backend/host/parallel.h"

#include "metal/cpu/runtime/parallel.h"
#include "metal/cpu/runtime/parallel_for.h"

namespace mlx::core::cpu {

size_t parallel_width() { return ::metal::cpu::parallel_width(); }

void parallel_for(size_t n, size_t grain, const std::function<void(size_t, size_t)>& body) {
  ::metal::cpu::parallel_for(n, grain, body);
}

}  // namespace mlx::core::cpu
