#include "mlx/backend/common/kept_memory.h"

#include <pthread.h>

#include <mutex>
#include <utility>

namespace mlx::core {
namespace {

// Guards Data::kept and Data::kept_by. Whoever holds it sees each counted reference in both the
// count and the use count, or in the use count alone: a reference is counted after it is made, and
// no longer counted before it is released.
std::mutex& kept_mutex() {
  static auto& mutex = *new std::mutex;  // streams may keep memory until the process ends
  return mutex;
}

// The child of a fork must not find the mutex taken by a thread that it does not have.
const int fork_handlers = pthread_atfork([] { kept_mutex().lock(); }, [] { kept_mutex().unlock(); },
                                         [] { kept_mutex().unlock(); });

}  // namespace

void KeptMemory::add(std::shared_ptr<array::Data> data) {
  const std::lock_guard lock(kept_mutex());
  if (data->kept == 0) data->kept_by = stream_;
  if (data->kept_by == stream_) {
    ++data->kept;
    counted_.push_back(std::move(data));
  } else {
    others_.push_back(std::move(data));
  }
}

void KeptMemory::clear() {
  if (!counted_.empty()) {
    const std::lock_guard lock(kept_mutex());
    for (const auto& data : counted_) --data->kept;
  }
  counted_.clear();
  others_.clear();
}

bool is_kept_only_by(const array& a, const Stream& stream) {
  const auto& data = a.data_shared_ptr();
  const std::lock_guard lock(kept_mutex());
  const bool counts = data->kept_by == stream.index;
  return data.use_count() == 1 + (counts ? static_cast<long>(data->kept) : 0);
}

}  // namespace mlx::core
