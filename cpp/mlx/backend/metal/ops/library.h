// Calls of libraries of a device that has memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "metal/driver.h"
#include "metal/matrix_product.h"
#include "mlx/array.h"
#include "mlx/backend/metal/device.h"
#include "mlx/bounded_cache.h"

namespace mlx::core {

// The numbers of a description, as the key of a cache.
inline std::string plan_key(std::span<const int64_t> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// How a library of the stream's device computes what is described; null if there is none. Plans are
// cached, also where there is none. `numbers` tells one description from others of its type.
template <typename Plan, typename Description>
std::shared_ptr<const Plan> library_plan(const Description& description,
                                         std::span<const int64_t> numbers, Stream s) {
  constexpr size_t kMaxPlans = 1024;
  static std::mutex mutex;
  static auto* plans = new BoundedCache<std::string, std::shared_ptr<const Plan>>(kMaxPlans);
  const std::lock_guard lock(mutex);
  const auto gpu = static_cast<size_t>(s.device.index);
  return plans->get(plan_key(numbers) + std::to_string(gpu),
                    [&] { return ::metal::driver_of_device(gpu).plan(description); });
}

// Returns a row-contiguous array whose address is a multiple of what libraries read at once: the
// array itself, or a copy that lives until the stream has used it.
array library_operand(const array& a, Stream s);

// Memory of so many bytes for a call, which lives until the stream has used it; none for no bytes.
MTL::LibraryBuffer library_workspace(size_t bytes, Stream s);

// The type of the elements: float32, float16, bfloat16 or complex64.
::metal::MatrixType library_type(Dtype dtype);

}  // namespace mlx::core
