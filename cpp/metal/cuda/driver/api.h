// The functions of NVIDIA's driver API that are used here. They are found in the driver's library
// at run time, so neither a toolkit nor NVIDIA's headers are needed to build.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace metal::cuda {

// Handles and constants of the driver's binary interface.
using CudaDevice = int;
using DeviceAddress = uint64_t;
using CudaContext = struct CudaContextObject*;
using CudaStreamHandle = struct CudaStreamObject*;
using CudaEvent = struct CudaEventObject*;
using CudaModule = struct CudaModuleObject*;
using CudaFunction = struct CudaFunctionObject*;
using CudaLink = struct CudaLinkObject*;
using MemoryHandle = uint64_t;  // of physical memory

enum class Result : int {
  Success = 0,
  OutOfMemory = 2,
  NotReady = 600,
  IllegalAddress = 700,
  OutOfResources = 701,
  StackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidProgramCounter = 718,
  LaunchFailed = 719,
};

enum class DeviceAttribute : int {
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
};

struct MemoryLocation {
  int type = 1;  // a GPU
  CudaDevice device = 0;
};

struct MemoryProperties {
  int type = 1;          // pinned, as all memory of a GPU
  int handle_types = 0;  // no other process gets it
  MemoryLocation location;
  void* windows_data = nullptr;
  unsigned char flags[8] = {};
};

struct MemoryAccess {
  MemoryLocation location;
  int access = 3;  // reads and writes
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kHostPortable = 1;
inline constexpr unsigned kEventWithoutTime = 2;
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
inline constexpr int kLinkInputPtx = 1;
// Keys for cuLaunchKernel's argument `extra`.
inline void* const kLaunchBuffer = std::bit_cast<void*>(uintptr_t{1});
inline void* const kLaunchBufferBytes = std::bit_cast<void*>(uintptr_t{2});

// One entry for each function: its name in the library and the types of its arguments.
#define METAL_CUDA_FUNCTIONS(F)                                                               \
  F(cuInit, unsigned)                                                                         \
  F(cuDriverGetVersion, int*)                                                                 \
  F(cuGetErrorName, Result, const char**)                                                     \
  F(cuGetErrorString, Result, const char**)                                                   \
  F(cuDeviceGetCount, int*)                                                                   \
  F(cuDeviceGet, CudaDevice*, int)                                                            \
  F(cuDeviceGetName, char*, int, CudaDevice)                                                  \
  F(cuDeviceGetAttribute, int*, DeviceAttribute, CudaDevice)                                  \
  F(cuDeviceTotalMem_v2, size_t*, CudaDevice)                                                 \
  F(cuDeviceCanAccessPeer, int*, CudaDevice, CudaDevice)                                      \
  F(cuDevicePrimaryCtxRetain, CudaContext*, CudaDevice)                                       \
  F(cuCtxSetCurrent, CudaContext)                                                             \
  F(cuMemHostAlloc, void**, size_t, unsigned)                                                 \
  F(cuMemFreeHost, void*)                                                                     \
  F(cuMemAddressReserve, DeviceAddress*, size_t, size_t, DeviceAddress, unsigned long long)   \
  F(cuMemCreate, MemoryHandle*, size_t, const MemoryProperties*, unsigned long long)          \
  F(cuMemMap, DeviceAddress, size_t, size_t, MemoryHandle, unsigned long long)                \
  F(cuMemSetAccess, DeviceAddress, size_t, const MemoryAccess*, size_t)                       \
  F(cuMemRelease, MemoryHandle)                                                               \
  F(cuMemcpyDtoHAsync_v2, void*, DeviceAddress, size_t, CudaStreamHandle)                     \
  F(cuMemcpyHtoDAsync_v2, DeviceAddress, const void*, size_t, CudaStreamHandle)               \
  F(cuMemcpyPeerAsync, DeviceAddress, CudaContext, DeviceAddress, CudaContext, size_t,        \
    CudaStreamHandle)                                                                         \
  F(cuEventCreate, CudaEvent*, unsigned)                                                      \
  F(cuEventRecord, CudaEvent, CudaStreamHandle)                                               \
  F(cuEventSynchronize, CudaEvent)                                                            \
  F(cuStreamWaitEvent, CudaStreamHandle, CudaEvent, unsigned)                                 \
  F(cuStreamCreate, CudaStreamHandle*, unsigned)                                              \
  F(cuStreamDestroy_v2, CudaStreamHandle)                                                     \
  F(cuStreamQuery, CudaStreamHandle)                                                          \
  F(cuStreamWriteValue32_v2, CudaStreamHandle, DeviceAddress, uint32_t, unsigned)             \
  F(cuLinkCreate_v2, unsigned, int*, void**, CudaLink*)                                       \
  F(cuLinkAddData_v2, CudaLink, int, void*, size_t, const char*, unsigned, int*, void**)      \
  F(cuLinkComplete, CudaLink, void**, size_t*)                                                \
  F(cuLinkDestroy, CudaLink)                                                                  \
  F(cuModuleLoadData, CudaModule*, const void*)                                               \
  F(cuModuleUnload, CudaModule)                                                               \
  F(cuModuleGetFunction, CudaFunction*, CudaModule, const char*)                              \
  F(cuLaunchKernel, CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
    unsigned, CudaStreamHandle, void**, void**)

struct Api {
#define METAL_CUDA_MEMBER(name, ...) Result (*name)(__VA_ARGS__) = nullptr;
  METAL_CUDA_FUNCTIONS(METAL_CUDA_MEMBER)
#undef METAL_CUDA_MEMBER

  std::string describe(Result result) const;  // "meaning (name)"
};

// Loads the library at the first call. Throws std::runtime_error if there is none or if it is too
// old.
const Api& cuda_api();

}  // namespace metal::cuda
