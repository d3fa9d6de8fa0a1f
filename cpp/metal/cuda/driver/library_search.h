// Finds NVIDIA's libraries that are no part of its driver: those of the system, and those in
// NVIDIA's Python packages.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "metal/cuda/driver/gpu.h"

namespace metal::cuda {

// Handles of the libraries with this name, as dlopen gives them: the system's first. They are
// opened as they are asked for, and never closed. Empty if the environment variable
// MLX_CUDA_LIBRARIES is 0.
std::vector<void*> open_libraries(const std::string& name);

// Whether the library has the function.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// What `start` makes of the first library that it can use, by the order of the names; null if there
// is none. It lives until the process ends.
template <typename Start>
auto first_library(std::initializer_list<const char*> names, Start start)
    -> decltype(start(nullptr).release()) {
  for (const char* name : names) {
    for (void* library : open_libraries(name)) {
      if (auto api = start(library)) return api.release();
    }
  }
  return nullptr;
}

// What libraries of this kind give one GPU, whose context must be current: found at the first call
// for each GPU. Thread-safe.
template <typename Api>
class PerGpu {
 public:
  template <typename Find>
  const Api* get(const Gpu& gpu, Find find) {
    const std::lock_guard lock(mutex_);
    const auto found = found_.find(&gpu);
    return found != found_.end() ? found->second : found_[&gpu] = find();
  }

 private:
  std::mutex mutex_;
  std::map<const Gpu*, const Api*> found_;
};

// Workspace that is this much larger has an aligned part of the size that a library asks for.
inline constexpr uintptr_t kWorkspaceAlignment = 256;
void* aligned_workspace(void* memory);

}  // namespace metal::cuda
