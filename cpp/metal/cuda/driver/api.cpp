#include "metal/cuda/driver/api.h"

#include <dlfcn.h>

#include <stdexcept>

namespace metal::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

template <typename Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  if (!symbol) {
    throw std::runtime_error(std::string("NVIDIA's driver is too old: ") + kLibrary + " has no " +
                             name);
  }
  function = reinterpret_cast<Function>(symbol);
}

// Never unloaded: the library's threads outlive all our objects.
Api load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw std::runtime_error(std::string("NVIDIA's driver is not installed: ") + dlerror());
  }
  Api api;
#define METAL_CUDA_FIND(name, ...) find(library, #name, api.name);
  METAL_CUDA_FUNCTIONS(METAL_CUDA_FIND)
#undef METAL_CUDA_FIND
  return api;
}

}  // namespace

std::string Api::describe(Result result) const {
  const char *name = nullptr, *meaning = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &meaning);
  return std::string(meaning ? meaning : "unknown error") + " (" +
         (name ? name : std::to_string(static_cast<int>(result)).c_str()) + ")";
}

const Api& cuda_api() {
  static const Api& api = *new Api(load());
  return api;
}

}  // namespace metal::cuda
