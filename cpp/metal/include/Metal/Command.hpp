// Queues, command buffers and the encoding of dispatches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Metal/Types.hpp"

#pragma GCC visibility push(default)
namespace MTL {

class Buffer;
class CommandBuffer;
class CommandQueue;
class ComputePipelineState;
class Device;
// The runtime defines these two. They are not in its namespace `metal`, because a program that
// includes this header may have another namespace of that name.
struct CheckReport;
struct LibraryCall;

using CommandBufferHandler = std::function<void(CommandBuffer*)>;
using HandlerFunction = CommandBufferHandler;
using CheckHandler = std::function<void(const std::vector<CheckReport>&)>;

class ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder> {
 public:
  virtual void setComputePipelineState(const ComputePipelineState* pipeline) = 0;
  virtual void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) = 0;
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range) {
    for (NS::UInteger i = 0; i < range.length; ++i)
      setBuffer(buffers[i], offsets[i], range.location + i);
  }
  virtual void setBufferOffset(NS::UInteger offset, NS::UInteger index) = 0;
  virtual void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) = 0;
  virtual void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) = 0;

  // A launch that breaks a limit is not encoded. The command buffer then fails as a whole, with the
  // reason, before any of it runs.
  virtual void dispatchThreads(Size threads_per_grid, Size threads_per_threadgroup) = 0;
  virtual void dispatchThreadgroups(Size threadgroups_per_grid, Size threads_per_threadgroup) = 0;
  virtual void memoryBarrier(BarrierScope scope) = 0;
  virtual void endEncoding() = 0;
  // Labels and groups are for Apple's tools.
  void setLabel(const NS::String* /*label*/) {}
  void pushDebugGroup(const NS::String* /*name*/) {}
  void popDebugGroup() {}

  // Not in metal-cpp. For the next dispatch: `count` threads that are `stride` apart along x read
  // neighbouring memory. A device that runs few threadgroups at a time then runs those threadgroups
  // one after the other, while the memory is in its caches.
  virtual void setThreadgroupOrder(NS::UInteger stride, NS::UInteger count) = 0;
  // Not in metal-cpp. The dispatches that follow run checked (metal/checks.h), and `handler` gets
  // what is found; what it throws is the command buffer's error. 0: unchecked.
  virtual void setChecks(std::uint32_t checks, const CheckHandler& handler) = 0;
  // What checks take for the buffer at an index, until another buffer is set there: `length` bytes
  // from `start` of the buffer on.
  virtual void setBufferExtent(NS::UInteger start, NS::UInteger length, NS::UInteger index) = 0;
  // Its contents are undefined until the next dispatch, which has to write all of it.
  virtual void setBufferUnwritten(NS::UInteger index) = 0;
  // Not in metal-cpp. If the command buffer has nothing to run, the encoder forgets what is set, as
  // if it were new. Returns whether that is so.
  virtual bool reuse() = 0;
};

// Not in metal-cpp. What a library's call gets: an address in a buffer, null if there is none.
struct LibraryBuffer {
  const Buffer* buffer;
  NS::UInteger offset;  // bytes
  bool written;
};

// Not in metal-cpp. What a thread that commits a command buffer does next with the queue: runUntil
// and waitUntilCompleted are waits.
enum class NextCall { Other, Wait, Commit };

class CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  virtual CommandQueue* commandQueue() const = 0;
  Device* device() const;
  virtual ComputeCommandEncoder* computeCommandEncoder() = 0;  // autoreleased
  virtual ComputeCommandEncoder* computeCommandEncoder(DispatchType type) = 0;

  virtual void addScheduledHandler(const CommandBufferHandler& handler) = 0;
  virtual void addCompletedHandler(const CommandBufferHandler& handler) = 0;
  virtual void enqueue() = 0;
  virtual void commit() = 0;
  virtual void waitUntilScheduled() = 0;
  virtual void waitUntilCompleted() = 0;
  virtual CommandBufferStatus status() const = 0;
  virtual NS::Error* error() const = 0;  // null unless status() is CommandBufferStatusError
  virtual NS::String* label() const = 0;
  virtual void setLabel(const NS::String* label) = 0;

  // Not in metal-cpp. Calls `poll` every 50 ms while it waits. An exception of `poll` ends the
  // wait.
  virtual void waitUntilCompleted(const std::function<void()>& poll) = 0;
  // Not in metal-cpp. Runs on the queue's thread, in order with the dispatches. Its exceptions
  // become the command buffer's error. A task that ends within microseconds counts as a small
  // launch.
  virtual void addHostTask(std::function<void()> task, bool ends_soon = false) = 0;
  // Not in metal-cpp. A library's call on the device (metal/driver.h), in order with the
  // dispatches.
  virtual void addLibraryCall(const LibraryCall& call,
                              const std::vector<LibraryBuffer>& buffers) = 0;
  // Not in metal-cpp. Like commit; where the caller itself can do what is left in its next call,
  // the queue's own thread is not woken.
  virtual void commitBefore(NextCall next) = 0;
  // Not in metal-cpp. While the queue is idle and nothing is recorded, launches that end within
  // microseconds run at once in the thread that encodes them, instead of being recorded. So do
  // host tasks.
  virtual void runSmallLaunches() = 0;
};

// Command buffers run one after the other, in the order in which they were committed.
class CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  virtual Device* device() const = 0;
  void setLabel(const NS::String* /*label*/) {}   // labels are for Apple's tools
  virtual CommandBuffer* commandBuffer() = 0;     // autoreleased
  virtual CommandBuffer* newCommandBuffer() = 0;  // not in metal-cpp: the caller owns it
  // Not in metal-cpp. Whether all committed command buffers have run, and their handlers returned.
  virtual bool isIdle() const = 0;

  // Not in metal-cpp. Until `done` returns true, runs the next command buffers on the calling
  // thread, which would only wait otherwise. Returns earlier if another thread runs one, or if the
  // next one has host tasks or launches that may take long. Launches of kernels without loops, if
  // they have not too many threads, and bounded ones end soon. The queue's own thread runs what is
  // left. `poll` is as above, or empty.
  virtual void runUntil(const std::function<bool()>& done, const std::function<void()>& poll) = 0;
  // Not in metal-cpp. For a caller that waits for command buffers to complete in another way.
  virtual void completeSoon() = 0;
};

inline Device* CommandBuffer::device() const { return commandQueue()->device(); }

}  // namespace MTL
#pragma GCC visibility pop
