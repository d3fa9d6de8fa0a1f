// Streams: the list of them, and the default of each device.
#include "mlx/stream.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "mlx/backend/metal/eval.h"
#include "mlx/interrupt.h"

namespace mlx::core {

namespace {

struct Registry {
  std::recursive_mutex mutex;
  std::vector<Stream> streams;
  std::set<int> cleared;
  std::map<Device, int> default_index;  // of those that have been created
  // The same of the host and the first GPU, or -1. Each operation asks for one, without the lock.
  std::atomic<int> first_defaults[2] = {-1, -1};
  int thread_local_streams = 0;  // how many have been created

  bool is_default(int index) const {
    return std::ranges::any_of(default_index,
                               [index](const auto& entry) { return entry.second == index; });
  }
  std::atomic<int>* first_default(const Device& d) {
    return d.index == 0 ? &first_defaults[d.type == Device::gpu] : nullptr;
  }
  void set_default(const Stream& s) {
    default_index[s.device] = s.index;
    if (auto* first = first_default(s.device)) first->store(s.index, std::memory_order_release);
  }
  bool is_cleared(int index) const { return cleared.contains(index); }
};

// The streams that one thread has created.
struct ThreadStreams {
  std::vector<int> made;
  std::map<int, int> local;  // by the index of a ThreadLocalStream
};

ThreadStreams& of_this_thread() {
  thread_local ThreadStreams streams;
  return streams;
}

Registry& registry() {
  static auto* instance = new Registry();
  return *instance;
}

void check_available(const Device& d, const char* op) {
  if (!is_available(d)) {
    throw std::invalid_argument(std::string("[") + op +
                                "] The device is not available on this machine.");
  }
}

}  // namespace

Stream new_process_stream(Device d) {
  check_available(d, "new_stream");
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  Stream stream(static_cast<int>(r.streams.size()), d);
  metal::new_stream(stream);
  r.streams.push_back(stream);
  return stream;
}

Stream new_stream(Device d) {
  const Stream stream = new_process_stream(d);
  of_this_thread().made.push_back(stream.index);
  return stream;
}

Stream new_thread_unsafe_stream(Device d) { return new_stream(d); }

ThreadLocalStream new_thread_local_stream(Device d) {
  check_available(d, "new_thread_local_stream");
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return ThreadLocalStream(r.thread_local_streams++, d);
}

Stream to_stream(ThreadLocalStream s) {
  auto& local = of_this_thread().local;
  auto found = local.find(s.index);
  if (found == local.end()) {
    found = local.emplace(s.index, new_stream(s.device).index).first;
  }
  return get_stream(found->second);
}

void clear_streams() {
  auto& mine = of_this_thread();
  for (const int index : std::exchange(mine.made, {})) {
    auto& r = registry();
    std::unique_lock lock(r.mutex);
    if (r.is_default(index)) {
      mine.made.push_back(index);
      continue;
    }
    const Stream stream = r.streams[index];
    lock.unlock();
    std::erase_if(mine.local, [&](const auto& entry) { return entry.second == index; });
    wait_unlocked([&] { metal::close_stream(stream); });
    lock.lock();
    r.cleared.insert(index);
  }
}

Stream new_stream() { return new_stream(default_device()); }

Stream default_stream(Device d) {
  auto& r = registry();
  if (const auto* first = r.first_default(d)) {
    if (const int index = first->load(std::memory_order_acquire); index >= 0)
      return Stream(index, d);
  }
  check_available(d, "default_stream");
  std::lock_guard lock(r.mutex);
  if (!r.default_index.contains(d)) r.set_default(new_process_stream(d));
  return r.streams[r.default_index.at(d)];
}

std::optional<Stream> peek_default_stream(Device d) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  const auto found = r.default_index.find(d);
  if (found == r.default_index.end()) return std::nullopt;
  return r.streams[found->second];
}

void set_default_stream(Stream s) {
  get_stream(s.index);
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  r.set_default(s);
}

Stream get_stream(int index) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  if (index < 0 || index >= static_cast<int>(r.streams.size()) || r.is_cleared(index)) {
    throw std::invalid_argument("[get_stream] There is no stream " + std::to_string(index) + ".");
  }
  return r.streams[index];
}

std::vector<Stream> get_streams() {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<Stream> streams;
  for (const Stream& stream : r.streams) {
    if (!r.is_cleared(stream.index)) {
      streams.push_back(stream);
    }
  }
  return streams;
}

void synchronize() { synchronize(default_stream(default_device())); }

void synchronize(Stream s) {
  wait_unlocked([&] { metal::synchronize(s); });
}

}  // namespace mlx::core
