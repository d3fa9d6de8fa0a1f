#include "metal/cuda/driver/cublas_lt.h"

#include <memory>
#include <stdexcept>

#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

// The newest first. One that is made for a newer driver than there is does not start.
constexpr const char* kCublasNames[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

// Null if the library lacks a function or does not start.
std::unique_ptr<CublasApi> started(void* library) {
  auto api = std::make_unique<CublasApi>();
  bool complete = find_function(library, "cublasLtGetStatusString", api->cublasLtGetStatusString);
#define METAL_CUBLAS_FIND(name, ...) \
  complete = complete && find_function(library, #name, api->name);
  METAL_CUBLAS_FUNCTIONS(METAL_CUBLAS_FIND)
#undef METAL_CUBLAS_FIND
  if (!complete || api->cublasLtCreate(&api->handle) != CublasStatus::Success) return nullptr;
  return api;
}

const CublasApi* find_cublas() {
  for (const char* name : kCublasNames) {
    for (void* library : open_libraries(name)) {
      if (auto api = started(library)) return api.release();
    }
  }
  return nullptr;
}

}  // namespace

void CublasApi::check(CublasStatus status, const char* action) const {
  if (status == CublasStatus::Success) return;
  throw std::runtime_error(std::string("NVIDIA's cuBLASLt is unable to ") + action + ": " +
                           cublasLtGetStatusString(status));
}

const CublasApi* cublas_api() {
  static const CublasApi* const api = find_cublas();
  return api;
}

}  // namespace metal::cuda
