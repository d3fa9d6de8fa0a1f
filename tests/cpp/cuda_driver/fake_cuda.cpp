#include "cuda_driver/fake_cuda.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>

namespace metal::test {
namespace {

FakeCuda state;
std::deque<std::string> entries;  // a function's handle points to its name
char handle;                      // the handle of everything else
constexpr char kCubin[] = "machine code";

template <typename T>
T any_handle() {
  return reinterpret_cast<T>(&handle);
}

std::string packed(void** extra) {
  if (extra[0] != cuda::kLaunchBuffer || extra[2] != cuda::kLaunchBufferBytes) return {};
  return {static_cast<const char*>(extra[1]), *static_cast<const size_t*>(extra[3])};
}

}  // namespace

extern "C" {

using cuda::Result;

FakeCuda& fake_cuda() { return state; }

Result cuInit(unsigned) { return Result::Success; }

Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return Result::Success;
}

Result cuGetErrorName(Result result, const char** name) {
  *name = result == Result::IllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
  return Result::Success;
}

Result cuGetErrorString(Result, const char** text) {
  *text = "an error of the fake";
  return Result::Success;
}

Result cuDeviceGetCount(int* count) {
  *count = 2;
  return Result::Success;
}

Result cuDeviceGet(cuda::CudaDevice* device, int number) {
  *device = number;
  return Result::Success;
}

Result cuDeviceGetName(char* name, int bytes, cuda::CudaDevice) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
  return Result::Success;
}

Result cuDeviceGetAttribute(int* value, cuda::DeviceAttribute attribute, cuda::CudaDevice) {
  const bool minor = attribute == cuda::DeviceAttribute::ComputeCapabilityMinor;
  const bool major = attribute == cuda::DeviceAttribute::ComputeCapabilityMajor;
  *value = major ? 9 : minor ? 0 : 1;
  return Result::Success;
}

Result cuDevicePrimaryCtxRetain(cuda::CudaContext* context, cuda::CudaDevice device) {
  *context = std::bit_cast<cuda::CudaContext>(uintptr_t(device) + 1);
  return Result::Success;
}

Result cuCtxSetCurrent(cuda::CudaContext) { return Result::Success; }

Result cuDeviceCanAccessPeer(int* can, cuda::CudaDevice, cuda::CudaDevice) {
  *can = 1;
  return Result::Success;
}

Result cuDeviceTotalMem_v2(size_t* bytes, cuda::CudaDevice) {
  *bytes = size_t{1} << 30;
  return Result::Success;
}

Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return Result::Success;
}

Result cuMemFreeHost(void* memory) {
  std::free(memory);
  return Result::Success;
}

// Memory of the fake GPU lies in the host's, and is mapped at its first use.
Result cuMemAddressReserve(cuda::DeviceAddress* address, size_t bytes, size_t, cuda::DeviceAddress,
                           unsigned long long) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *address = std::bit_cast<cuda::DeviceAddress>(memory);
  return memory == MAP_FAILED ? Result::OutOfMemory : Result::Success;
}

Result cuMemCreate(cuda::MemoryHandle* memory, size_t bytes, const cuda::MemoryProperties*,
                   unsigned long long) {
  if (bytes > state.free_memory) return Result::OutOfMemory;
  *memory = 1;
  state.memory_bytes += bytes;
  state.free_memory -= bytes;
  return Result::Success;
}

Result cuMemMap(cuda::DeviceAddress, size_t, size_t, cuda::MemoryHandle, unsigned long long) {
  return Result::Success;
}

Result cuMemSetAccess(cuda::DeviceAddress, size_t, const cuda::MemoryAccess* accesses,
                      size_t count) {
  for (size_t i = 0; i < count; ++i) state.admitted.insert(accesses[i].location.device);
  return Result::Success;
}

Result cuMemRelease(cuda::MemoryHandle) { return Result::Success; }

Result cuMemcpyDtoHAsync_v2(void* host, cuda::DeviceAddress device, size_t bytes,
                            cuda::CudaStreamHandle stream) {
  state.copies.push_back({FakeCopy::Download, bytes, stream});
  std::memcpy(host, std::bit_cast<void*>(device), bytes);
  return Result::Success;
}

Result cuMemcpyHtoDAsync_v2(cuda::DeviceAddress device, const void* host, size_t bytes,
                            cuda::CudaStreamHandle stream) {
  state.copies.push_back({FakeCopy::Upload, bytes, stream});
  std::memcpy(std::bit_cast<void*>(device), host, bytes);
  return Result::Success;
}

Result cuMemcpyPeerAsync(cuda::DeviceAddress to, cuda::CudaContext to_context,
                         cuda::DeviceAddress from, cuda::CudaContext from_context, size_t bytes,
                         cuda::CudaStreamHandle stream) {
  if (to_context == from_context) return Result::LaunchFailed;
  state.copies.push_back({FakeCopy::Peer, bytes, stream});
  std::memcpy(std::bit_cast<void*>(to), std::bit_cast<void*>(from), bytes);
  return Result::Success;
}

Result cuEventCreate(cuda::CudaEvent* event, unsigned) {
  *event = any_handle<cuda::CudaEvent>();
  return Result::Success;
}

Result cuEventRecord(cuda::CudaEvent, cuda::CudaStreamHandle) { return Result::Success; }

Result cuEventSynchronize(cuda::CudaEvent) { return Result::Success; }

Result cuStreamWaitEvent(cuda::CudaStreamHandle stream, cuda::CudaEvent, unsigned) {
  state.waits.push_back(stream);
  return Result::Success;
}

Result cuStreamCreate(cuda::CudaStreamHandle* stream, unsigned) {
  static uintptr_t streams = 0;
  *stream = std::bit_cast<cuda::CudaStreamHandle>(++streams);
  return Result::Success;
}

Result cuStreamDestroy_v2(cuda::CudaStreamHandle) { return Result::Success; }

Result cuStreamQuery(cuda::CudaStreamHandle) { return state.stream_state; }

Result cuStreamWriteValue32_v2(cuda::CudaStreamHandle, cuda::DeviceAddress address, uint32_t value,
                               unsigned) {
  if (state.kernels_end) *reinterpret_cast<uint32_t*>(address) = value;
  return Result::Success;
}

Result cuLinkCreate_v2(unsigned, int*, void**, cuda::CudaLink* link) {
  *link = any_handle<cuda::CudaLink>();
  return Result::Success;
}

Result cuLinkAddData_v2(cuda::CudaLink, int, void* data, size_t, const char*, unsigned, int*,
                        void**) {
  state.ptx = static_cast<const char*>(data);
  ++state.assembled;
  return Result::Success;
}

Result cuLinkComplete(cuda::CudaLink, void** cubin, size_t* bytes) {
  *cubin = const_cast<char*>(kCubin);
  *bytes = sizeof(kCubin);
  return Result::Success;
}

Result cuLinkDestroy(cuda::CudaLink) { return Result::Success; }

Result cuModuleLoadData(cuda::CudaModule* module, const void* bytes) {
  *module = any_handle<cuda::CudaModule>();
  const bool known = std::memcmp(bytes, kCubin, sizeof(kCubin)) == 0;
  return known ? Result::Success : Result::LaunchFailed;
}

Result cuModuleUnload(cuda::CudaModule) { return Result::Success; }

Result cuModuleGetFunction(cuda::CudaFunction* function, cuda::CudaModule, const char* name) {
  *function = reinterpret_cast<cuda::CudaFunction>(&entries.emplace_back(name));
  return Result::Success;
}

Result cuLaunchKernel(cuda::CudaFunction function, unsigned grid_x, unsigned grid_y,
                      unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                      unsigned shared_bytes, cuda::CudaStreamHandle, void**, void** extra) {
  if (state.launch_result != Result::Success) return state.launch_result;
  state.launches.push_back({*reinterpret_cast<std::string*>(function),
                            {grid_x, grid_y, grid_z},
                            {block_x, block_y, block_z},
                            shared_bytes,
                            packed(extra)});
  return Result::Success;
}

}  // extern "C"
}  // namespace metal::test
