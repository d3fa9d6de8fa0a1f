// Memory of arrays: buffers of the Metal device, readable and writable by the host.
#pragma once

#include "mlx/device.h"
#include "mlx/standard_headers.h"

namespace mlx::core::allocator {

// A handle to device memory: ptr() is the MTL::Buffer*, raw_ptr() the address of its bytes.
class Buffer {
 public:
  explicit Buffer(void* ptr) : ptr_(ptr) {}
  void* raw_ptr();  // to write to
  // To read `count` bytes from the byte `first` on. Also returns the address of the first byte.
  const void* read_ptr(size_t first, size_t count) const;
  const void* ptr() const { return ptr_; }
  void* ptr() { return ptr_; }

 private:
  void* ptr_;
};

// While it exists, this thread takes addresses of buffers for tasks that will run later, and
// accesses only new memory. It matters for devices that have memory of their own: nothing is copied
// for it.
class AddressesOnly {
 public:
  AddressesOnly();
  ~AddressesOnly();
  AddressesOnly(const AddressesOnly&) = delete;
  AddressesOnly& operator=(const AddressesOnly&) = delete;

 private:
  bool before_;
};

// While it exists, this thread allocates buffers in memory of this GPU. Otherwise they are the
// default device's, or the first GPU's.
class OnDevice {
 public:
  explicit OnDevice(const Device& device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_;
};

class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual Buffer malloc(size_t size) = 0;
  virtual void free(Buffer buffer) = 0;
  virtual size_t size(Buffer buffer) const = 0;
  // Makes a buffer of existing memory; null if the device cannot use that memory. `deleter` is
  // called when nothing uses the buffer any more.
  virtual Buffer wrap(void* memory, size_t size, const std::function<void(void*)>& deleter) = 0;
};

Allocator& allocator();

Buffer malloc(size_t size);
void free(Buffer buffer);

// A buffer of existing memory, which must stay until `release`; null if the device cannot use it.
Buffer make_buffer(void* memory, size_t size);
inline void release(Buffer buffer) { free(buffer); }

// The name that older extensions use; the same as malloc.
inline Buffer malloc_or_wait(size_t size) { return malloc(size); }

}  // namespace mlx::core::allocator
