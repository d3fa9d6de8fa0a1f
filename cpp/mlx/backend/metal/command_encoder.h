// CommandEncoder: encodes kernels on a stream. It is a handle; the stream owns the state.
#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "mlx/array.h"

namespace mlx::core::metal {

struct StreamState;

class CommandEncoder {
 public:
  explicit CommandEncoder(StreamState& state) : state_(&state) {}

  void set_compute_pipeline_state(const MTL::ComputePipelineState* kernel);
  void set_buffer(const MTL::Buffer* buffer, int index, int64_t offset = 0);
  // `offset` counts bytes from the array's start.
  void set_input_array(const array& a, int index, int64_t offset = 0);
  void set_output_array(array& a, int index, int64_t offset = 0);
  // Declares an array that the kernel reaches without an argument of its own.
  void register_output_array(const array&) {}
  void set_threadgroup_memory_length(size_t bytes, int index);

  template <typename T>
  void set_bytes(const T* values, int count, int index) {
    set_raw_bytes(values, sizeof(T) * count, index);
  }
  template <typename T>
  void set_bytes(const T& value, int index) {
    static_assert(std::is_trivially_copyable_v<T>);
    set_raw_bytes(&value, sizeof(T), index);
  }
  template <typename Vector>
  void set_vector_bytes(const Vector& values, size_t count, int index) {
    using T = typename Vector::value_type;
    T none{};
    set_raw_bytes(count ? values.data() : &none, sizeof(T) * (count ? count : 1), index);
  }
  template <typename Vector>
  void set_vector_bytes(const Vector& values, int index) {
    set_vector_bytes(values, values.size(), index);
  }

  // Sets the checks of the next dispatch, in addition to the active ones (backend/metal/checks.h).
  // Called before its buffers are set.
  void set_checks(uint32_t checks);
  // What the array bound there has is undefined until the next dispatch.
  void set_unwritten(int index);
  // Sets the order for the next dispatch: see MTL::ComputeCommandEncoder.
  void set_threadgroup_order(size_t stride, size_t count);
  // The size of the grid, in threads or in threadgroups, and the threads of a threadgroup. An empty
  // grid does nothing.
  void dispatch_threads(MTL::Size grid, MTL::Size threadgroup);
  void dispatch_threadgroups(MTL::Size grid, MTL::Size threadgroup);

  // Does nothing: dispatches of a stream run in order.
  void barrier() {}
  void maybeInsertBarrier() {}
  struct ConcurrentContext {};
  ConcurrentContext start_concurrent() { return {}; }

  // Keeps the array's memory until the stream has used it.
  void add_temporary(array a);
  void add_temporaries(std::vector<array> arrays);

  // Runs `task` on the host, in order with the stream's kernels. One that ends soon, within
  // microseconds, runs at once if nothing is ahead of it.
  void add_host_task(std::function<void()> task, bool ends_soon = false);

  // Adds a library's call on the stream's device, in order with the stream's kernels.
  void add_library_call(const MTL::LibraryCall& call,
                        const std::vector<MTL::LibraryBuffer>& buffers);
  // `offset` counts bytes from the array's start.
  static MTL::LibraryBuffer library_input(const array& a, int64_t offset = 0);
  static MTL::LibraryBuffer library_output(const array& a, int64_t offset = 0);

  // The same under metal-cpp's name.
  void setComputePipelineState(const MTL::ComputePipelineState* kernel) {
    set_compute_pipeline_state(kernel);
  }
  void setBuffer(const MTL::Buffer* buffer, size_t offset, int index) {
    set_buffer(buffer, index, offset);
  }
  void setBytes(const void* bytes, size_t length, int index) {
    set_raw_bytes(bytes, length, index);
  }
  void setThreadgroupMemoryLength(size_t bytes, int index) {
    set_threadgroup_memory_length(bytes, index);
  }
  void dispatchThreads(MTL::Size grid, MTL::Size threadgroup) {
    dispatch_threads(grid, threadgroup);
  }
  void dispatchThreadgroups(MTL::Size grid, MTL::Size threadgroup) {
    dispatch_threadgroups(grid, threadgroup);
  }
  CommandEncoder* operator->() { return this; }
  CommandEncoder* get_command_encoder() { return this; }

 private:
  void set_raw_bytes(const void* bytes, size_t length, int index);
  void set_extent(const array& a, int index);
  void begin_dispatch();
  uint32_t wanted_checks() const;

  StreamState* state_;
};

}  // namespace mlx::core::metal
