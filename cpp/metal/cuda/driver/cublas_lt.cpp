#include "metal/cuda/driver/cublas_lt.h"

#include <memory>
#include <stdexcept>

#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

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

}  // namespace

void CublasApi::check(CublasStatus status, const char* action) const {
  if (status == CublasStatus::Success) return;
  throw std::runtime_error(std::string("NVIDIA's cuBLASLt is unable to ") + action + ": " +
                           cublasLtGetStatusString(status));
}

const CublasApi* cublas_api(const Gpu& gpu) {
  static auto& apis = *new PerGpu<CublasApi>;
  // The newest first. One that is made for a newer driver than there is does not start.
  return apis.get(
      gpu, [] { return first_library({"libcublasLt.so.13", "libcublasLt.so.12"}, started); });
}

}  // namespace metal::cuda
