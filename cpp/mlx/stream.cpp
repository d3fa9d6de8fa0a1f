// Streams: the list of them, and each device's default.
#include "mlx/stream.h"

#include <mutex>
#include <stdexcept>
#include <string>

#include "mlx/backend/metal/eval.h"
#include "mlx/interrupt.h"

namespace mlx::core {

namespace {

struct Registry {
  std::recursive_mutex mutex;
  std::vector<Stream> streams;
  int default_index[2] = {-1, -1};  // by device type; -1: not made yet
};

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

Stream new_stream(Device d) {
  check_available(d, "new_stream");
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  Stream stream(static_cast<int>(r.streams.size()), d);
  metal::new_stream(stream);
  r.streams.push_back(stream);
  return stream;
}

Stream new_stream() { return new_stream(default_device()); }

Stream default_stream(Device d) {
  check_available(d, "default_stream");
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  int& index = r.default_index[static_cast<int>(d.type)];
  if (index < 0) {
    index = new_stream(d).index;
  }
  return r.streams[index];
}

void set_default_stream(Stream s) {
  get_stream(s.index);
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  r.default_index[static_cast<int>(s.device.type)] = s.index;
}

Stream get_stream(int index) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  if (index < 0 || index >= static_cast<int>(r.streams.size())) {
    throw std::invalid_argument("[get_stream] There is no stream " + std::to_string(index) + ".");
  }
  return r.streams[index];
}

std::vector<Stream> get_streams() {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return r.streams;
}

void synchronize() { synchronize(default_stream(default_device())); }

void synchronize(Stream s) {
  wait_unlocked([&] { metal::synchronize(s); });
}

}  // namespace mlx::core
