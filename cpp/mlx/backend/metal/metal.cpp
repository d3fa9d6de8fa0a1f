// Facts about the Metal device.
#include "mlx/backend/metal/metal.h"

#include <unistd.h>

#include <stdexcept>

#include "metal/cpu/runtime/jit.h"
#include "mlx/backend/metal/device.h"

namespace mlx::core::metal {

bool is_available() {
  static bool available = [] {
    auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    return static_cast<bool>(device);
  }();
  return available;
}

const std::unordered_map<std::string, std::variant<std::string, size_t>>& device_info() {
  static auto& info = *[] {  // never destroyed
    auto* mtl = device().mtl_device();
    size_t memory =
        static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
    return new std::unordered_map<std::string, std::variant<std::string, size_t>>{
        {"architecture", device().get_architecture()},
        {"device_name", std::string(mtl->name()->utf8String())},
        {"memory_size", memory},
        {"max_recommended_working_set_size",
         static_cast<size_t>(mtl->recommendedMaxWorkingSetSize())},
        {"max_buffer_length", static_cast<size_t>(mtl->maxBufferLength())},
        {"resource_limit", static_cast<size_t>(499000)},
    };
  }();
  return info;
}

size_t scalar_fallbacks() { return ::metal::cpu::scalar_fallbacks(); }

namespace {

std::string& metallib_path() {
  static std::string path;
  return path;
}

}  // namespace

void set_metallib_path(const std::string& path) { metallib_path() = path; }
const std::string& get_metallib_path() { return metallib_path(); }

void start_capture(std::string path) {
  const std::string suffix = ".gputrace";
  if (!path.empty() &&
      (path.size() < suffix.size() || path.substr(path.size() - suffix.size()) != suffix)) {
    throw std::runtime_error(
        "[metal::start_capture] The path of a capture ends in .gputrace, got '" + path + "'.");
  }
}

void stop_capture() {}

}  // namespace mlx::core::metal
