// Kernels written in C++ for the binary interface of compiled kernels, to test the runtime.
#pragma once

#include <Metal/Metal.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"

namespace metal::test {

struct NativeKernel {
  std::string name = "native";
  cpu::EntryPoint entry = nullptr;
  cpu::Granularity granularity = cpu::Granularity::Thread;
  bool has_barriers = false;
  uint32_t static_threadgroup_memory = 0;
  std::vector<ArgumentInfo> arguments = {};
  uint32_t max_total_threads = 1024;
};

MTL::Device* device();

inline NS::String* string(const char* text) {
  return NS::String::string(text, NS::UTF8StringEncoding);
}

NS::SharedPtr<MTL::ComputePipelineState> pipeline(const NativeKernel& kernel);

// Runs one launch with the buffers bound from index 0 on. Returns the error message, which is empty
// on success.
std::string run(const MTL::ComputePipelineState* pipeline,
                std::initializer_list<const MTL::Buffer*> buffers, MTL::Size grid,
                MTL::Size threadgroup);
std::string run(const NativeKernel& kernel, std::initializer_list<const MTL::Buffer*> buffers,
                MTL::Size grid, MTL::Size threadgroup);

// A device buffer with typed, zeroed contents.
template <class T>
struct Data {
  explicit Data(size_t count)
      : count(count), buffer(make_buffer(count * sizeof(T))), values(contents()) {
    for (size_t i = 0; i < count; ++i) values[i] = T{};
  }

  operator const MTL::Buffer*() const { return buffer.get(); }
  T& operator[](size_t i) { return values[i]; }

  size_t count;
  NS::SharedPtr<MTL::Buffer> buffer;
  T* values;

 private:
  static NS::SharedPtr<MTL::Buffer> make_buffer(size_t bytes) {
    return NS::TransferPtr(device()->newBuffer(bytes, MTL::ResourceStorageModeShared));
  }
  T* contents() { return static_cast<T*>(buffer->contents()); }
};

// The arguments that a kernel reads.
template <class T>
T* argument(const cpu::Group* group, int index) {
  return static_cast<T*>(group->launch->buffers[index]);
}

// The thread's position in the grid, for a linear index in the threadgroup.
struct Position {
  Position(const cpu::Group* group, uint32_t thread);
  uint32_t x, y, z;
  uint64_t linear;  // in the grid
};

// A kernel that adds one to each int of its buffer.
void add_one(const cpu::Group* group, uint32_t thread);

}  // namespace metal::test
