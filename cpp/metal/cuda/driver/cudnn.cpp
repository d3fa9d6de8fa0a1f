#include "metal/cuda/driver/cudnn.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

// Null if the library lacks a function or does not start.
std::unique_ptr<CudnnApi> started_cudnn(void* library) {
  auto api = std::make_unique<CudnnApi>();
  bool complete = find_function(library, "cudnnGetErrorString", api->cudnnGetErrorString) &&
                  find_function(library, "cudnnGetVersion", api->cudnnGetVersion);
#define METAL_CUDNN_FIND(name, ...) complete = complete && find_function(library, #name, api->name);
  METAL_CUDNN_FUNCTIONS(METAL_CUDNN_FIND)
#undef METAL_CUDNN_FIND
  if (!complete || api->cudnnCreate(&api->handle) != CudnnStatus::Success) return nullptr;
  return api;
}

}  // namespace

void CudnnApi::check(CudnnStatus status, const char* action) const {
  if (status == CudnnStatus::Success) return;
  throw std::runtime_error(std::string("NVIDIA's cuDNN is unable to ") + action + ": " +
                           cudnnGetErrorString(status));
}

const CudnnApi* cudnn_api(const Gpu& gpu) {
  static auto& apis = *new PerGpu<CudnnApi>;
  return apis.get(gpu, [] { return first_library({"libcudnn.so.9"}, started_cudnn); });
}

}  // namespace metal::cuda
