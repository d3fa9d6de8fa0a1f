// The state of a stream: the work that is encoded on it and has not yet run.
#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "mlx/array.h"
#include "mlx/backend/common/kept_memory.h"
#include "mlx/backend/metal/command_encoder.h"
#include "mlx/stream.h"

namespace mlx::core::metal {

struct StreamState {
  StreamState(MTL::Device* device, int index);

  // The open command buffer and its encoder; made on demand.
  MTL::CommandBuffer* command_buffer();
  MTL::ComputeCommandEncoder* compute_encoder();
  void end_encoding();
  // Starts the encoded work. `done` is called when it and everything before it has run, with the
  // first error since the last commit that had a `done`, or null. `next`: what the
  // caller does next with the queue.
  void commit(std::function<void(std::exception_ptr)> done = {},
              MTL::NextCall next = MTL::NextCall::Other);
  // What the next operation encodes may go to a new command buffer, so that the others start.
  void begin_operation() { begins_operation = device_has_memory; }
  // Commits, and waits for everything; rethrows an error that nobody has got yet.
  void synchronize();
  // The same, but keeps the error for the next caller.
  void wait();
  // Waits, and releases the queue: nothing can run here any more.
  void close();
  // Whether everything that was encoded has run, and no error is left for somebody to get. The
  // stream then keeps nothing.
  bool has_run();
  // Throws if the stream is closed.
  void check_open() const;

  // Keeps the memory of a primitive's inputs and outputs until what is encoded so far has run.
  void keep(const std::vector<array>& inputs, const std::vector<array>& outputs);

  // The memory that host tasks of one primitive may access, for devices with memory of their own.
  // Thread-safe.
  struct HostUse {
    std::mutex mutex;
    std::vector<NS::SharedPtr<MTL::Buffer>> read, written;
    void add(const array& a, bool writes);
    void prepare();  // called before each task; makes the host's copies current
  };

  // Errors of tasks and command buffers. Handlers share it, since they may outlive the stream.
  struct Errors {
    std::mutex mutex;
    std::exception_ptr first;
    std::atomic<bool> any{false};  // changed under the mutex
    void set(std::exception_ptr error);
    std::exception_ptr take();
  };

  int index;
  const bool device_has_memory;  // of its own
  NS::SharedPtr<MTL::CommandQueue> queue;
  NS::SharedPtr<MTL::CommandBuffer> buffer;
  NS::SharedPtr<MTL::CommandBuffer> last;  // the last one committed
  // Stays for the next work if what it encoded has run already.
  NS::SharedPtr<MTL::ComputeCommandEncoder> encoder;
  CommandEncoder handle;
  int operations = 0;             // encoded in the open buffer
  int operations_of_start = 1;    // with so many, the buffer starts early
  bool begins_operation = false;  // the next command is the first one of an operation
  size_t bytes = 0;               // that they allocated
  uint32_t checks = 0;            // that the encoder has been told of
  uint32_t next_checks = 0;       // of the next dispatch, besides the active ones
  std::shared_ptr<Errors> errors = std::make_shared<Errors>();
  KeptMemory inputs;
  // Weak until committed, so that an output that only its consumer holds may be overwritten in
  // place.
  std::vector<std::weak_ptr<array::Data>> outputs;
  std::vector<array> temporaries;
  std::shared_ptr<HostUse> host_use;  // of the primitive that encodes; null if it needs none
  // Held while a primitive encodes.
  std::recursive_mutex mutex;

 private:
  void start_early();
  bool has_nothing_to_run();
};

}  // namespace mlx::core::metal
