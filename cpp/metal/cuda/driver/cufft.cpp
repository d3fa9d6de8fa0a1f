#include "metal/cuda/driver/cufft.h"

#include <memory>
#include <stdexcept>

#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

// Null if the library lacks a function or makes no plans.
std::unique_ptr<CufftApi> started_cufft(void* library) {
  auto api = std::make_unique<CufftApi>();
  bool complete = true;
#define METAL_CUFFT_FIND(name, ...) complete = complete && find_function(library, #name, api->name);
  METAL_CUFFT_FUNCTIONS(METAL_CUFFT_FIND)
#undef METAL_CUFFT_FIND
  CufftHandle handle = 0;
  if (!complete || api->cufftCreate(&handle) != CufftResult::Success) return nullptr;
  api->cufftDestroy(handle);
  return api;
}

}  // namespace

void CufftApi::check(CufftResult result, const char* action) {
  if (result == CufftResult::Success) return;
  throw std::runtime_error(std::string("NVIDIA's cuFFT is unable to ") + action + ": error " +
                           std::to_string(static_cast<int>(result)));
}

const CufftApi* cufft_api() {
  // The newest first.
  static const CufftApi* const api =
      first_library({"libcufft.so.12", "libcufft.so.11"}, started_cufft);
  return api;
}

}  // namespace metal::cuda
