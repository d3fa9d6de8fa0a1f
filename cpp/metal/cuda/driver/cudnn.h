// The functions of NVIDIA's cuDNN that are used here, found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace metal::cuda {

class Gpu;

// Handles and constants of the library's binary interface, version 9.
using CudnnHandle = struct CudnnHandleObject*;
using CudnnDescriptor = struct CudnnDescriptorObject*;  // of graphs

enum class CudnnStatus : int { Success = 0 };
enum class CudnnType : int { Float32 = 0, Float16 = 2, Int32 = 4, Bfloat16 = 9, Bool = 11 };

// One entry for each function: its name in the library and the types of its arguments.
#define METAL_CUDNN_FUNCTIONS(F)                                                   \
  F(cudnnCreate, CudnnHandle*)                                                     \
  F(cudnnSetStream, CudnnHandle, void*)                                            \
  F(cudnnBackendCreateDescriptor, int, CudnnDescriptor*)                           \
  F(cudnnBackendDestroyDescriptor, CudnnDescriptor)                                \
  F(cudnnBackendSetAttribute, CudnnDescriptor, int, int, int64_t, const void*)     \
  F(cudnnBackendGetAttribute, CudnnDescriptor, int, int, int64_t, int64_t*, void*) \
  F(cudnnBackendFinalize, CudnnDescriptor)                                         \
  F(cudnnBackendExecute, CudnnHandle, CudnnDescriptor, CudnnDescriptor)

struct CudnnApi {
#define METAL_CUDNN_MEMBER(name, ...) CudnnStatus (*name)(__VA_ARGS__) = nullptr;
  METAL_CUDNN_FUNCTIONS(METAL_CUDNN_MEMBER)
#undef METAL_CUDNN_MEMBER
  const char* (*cudnnGetErrorString)(CudnnStatus) = nullptr;
  size_t (*cudnnGetVersion)() = nullptr;  // 90100 is 9.1
  CudnnHandle handle = nullptr;
  mutable std::mutex mutex;  // one thread at a time may use the handle

  // Throws std::runtime_error unless the library has done what `action` says.
  void check(CudnnStatus status, const char* action) const;
};

// Loads and starts the library at the first call for each GPU, whose context must be current. Null
// if none can be used.
const CudnnApi* cudnn_api(const Gpu& gpu);

}  // namespace metal::cuda
