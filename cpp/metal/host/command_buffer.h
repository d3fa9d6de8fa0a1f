// Command buffers and the encoder that fills them.
#pragma once

#include <Metal/Command.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "metal/driver.h"
#include "metal/host/residency.h"

namespace metal::host {

inline constexpr auto kPollInterval = std::chrono::milliseconds(50);  // of waiting threads

class CommandBufferObject;
class PipelineObject;
class QueueObject;

class EncoderObject : public MTL::ComputeCommandEncoder {
 public:
  explicit EncoderObject(CommandBufferObject* commands);

  void setComputePipelineState(const MTL::ComputePipelineState* pipeline) override;
  void setBuffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) override;
  void setBufferOffset(NS::UInteger offset, NS::UInteger index) override;
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) override;
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) override;
  void dispatchThreads(MTL::Size grid, MTL::Size threadgroup) override;
  void dispatchThreadgroups(MTL::Size threadgroups, MTL::Size threadgroup) override;
  void memoryBarrier(MTL::BarrierScope) override {}  // dispatches run one after the other
  void endEncoding() override {}
  void setThreadgroupOrder(NS::UInteger stride, NS::UInteger count) override;
  void setChecks(uint32_t checks, const CheckHandler& handler) override;
  void setBufferExtent(NS::UInteger start, NS::UInteger length, NS::UInteger index) override;
  void setBufferUnwritten(NS::UInteger index) override;
  bool reuse() override;

 private:
  bool valid_index(NS::UInteger index, const char* what);
  std::string check(MTL::Size grid, MTL::Size threadgroup) const;
  bool are_buffers_apart(const Kernel& kernel) const;
  std::string check_bindings(const Kernel& kernel) const;
  const Kernel* prepare_kernel();

  NS::SharedPtr<CommandBufferObject> commands_;
  const PipelineObject* pipeline_ = nullptr;
  LaunchParameters parameters_;
  uint64_t threadgroup_memory_ = 0;       // bytes at all indices
  uint32_t from_bytes_ = 0;               // a bit for each buffer that setBytes set
  uint32_t set_ = 0;                      // a bit for each index at which something is set
  char* bases_[kMaxBufferBindings] = {};  // of the buffers, without offsets
  NS::UInteger lengths_[kMaxBufferBindings] = {};
  Residency* residencies_[kMaxBufferBindings] = {};
  // What checks know, once there are any.
  struct Checked {
    Checks checks = kNoChecks;
    CheckHandler handler;
    CheckedLaunch::Extent extents[kMaxBufferBindings] = {};
  };
  std::unique_ptr<Checked> checked_;
};

class CommandBufferObject : public MTL::CommandBuffer {
 public:
  explicit CommandBufferObject(QueueObject* queue);

  MTL::CommandQueue* commandQueue() const override;
  MTL::ComputeCommandEncoder* computeCommandEncoder() override;
  MTL::ComputeCommandEncoder* computeCommandEncoder(MTL::DispatchType) override {
    return computeCommandEncoder();
  }
  void addScheduledHandler(const MTL::CommandBufferHandler& handler) override;
  void addCompletedHandler(const MTL::CommandBufferHandler& handler) override;
  void enqueue() override;
  void commit() override { commitBefore(MTL::NextCall::Other); }
  void commitBefore(MTL::NextCall next) override;
  void runSmallLaunches() override { runs_small_launches_ = true; }
  void waitUntilScheduled() override;
  void waitUntilCompleted() override { waitUntilCompleted(nullptr); }
  void waitUntilCompleted(const std::function<void()>& poll) override;
  MTL::CommandBufferStatus status() const override { return status_.load(); }
  NS::Error* error() const override { return error_.get(); }
  NS::String* label() const override { return label_.get(); }
  void setLabel(const NS::String* label) override;
  void addHostTask(std::function<void()> task, bool ends_soon) override;
  void addLibraryCall(const LibraryCall& call,
                      const std::vector<MTL::LibraryBuffer>& buffers) override;

  // Called by the encoder.
  Driver& driver() const;
  void add_launch(const PipelineObject& pipeline, const Kernel& kernel,
                  const LaunchParameters& parameters, uint32_t from_bytes,
                  Residency* const (&residencies)[kMaxBufferBindings]);
  void keep(const NS::Object* retained) { kept_.push_back(retained); }  // takes over a reference
  void* copy_bytes(const void* bytes, size_t length);
  Residency* bytes_residency()
      const;  // of the last copy; null if the device uses the host's memory
  void refuse(const std::string& reason);  // the first reason makes the whole buffer fail
  // If there is nothing to run, and nothing to report, releases what was kept. Returns whether.
  bool forget();

  // Whether it has only launches that end soon.
  bool bounded() const { return bounded_; }
  // Whether it may start, on an asynchronous stream, before those ahead of it have ended: it does
  // nothing on the host, and the host's memory need not be current when one of the others ends.
  bool may_overlap() const;
  // Called on threads that the queue chooses, one after the other. They call `poll`, unless that is
  // empty, between launches and while they wait.
  void start(Stream& stream, const std::function<void()>& poll);
  void complete(Stream& stream, const std::function<void()>& poll);
  // Whether complete() need not wait.
  bool has_ended(const Stream& stream) const { return error_ || stream.has_passed(mark_); }
  // Called when complete() has returned, and with it all handlers.
  void wake_waiting_threads();

 protected:
  ~CommandBufferObject() override;

 private:
  struct Command {
    // One of these three.
    const Kernel* kernel = nullptr;
    std::unique_ptr<const LibraryCall> call;
    std::function<void()> task;
    LaunchParameters parameters;  // of a call: only buffers, limits and trust
    std::vector<BufferUse> uses;  // of buffers that have a residency
  };

  bool run_now(const std::function<void(Stream&)>& work);
  void run_commands(Stream& stream, const std::function<void()>& poll);
  void run(Command& command, Stream& stream);
  void fail_from_exception();
  void finish();
  void release_resources();

  NS::SharedPtr<QueueObject> queue_;
  std::vector<Command> commands_;
  bool bounded_ = true;
  bool has_tasks_ = false;
  bool runs_small_launches_ = false;
  std::exception_ptr failure_;           // of a launch that ran at once
  std::optional<Transfers> transfers_;   // from the start to the end
  uint64_t mark_ = 0;                    // of the stream, behind its launches
  std::vector<const NS::Object*> kept_;  // until completion
  std::vector<void*> blocks_;            // the copies that setBytes makes
  std::vector<std::unique_ptr<Residency>> block_residencies_;
  char* block_next_ = nullptr;
  char* block_end_ = nullptr;
  std::optional<std::string> refusal_;
  std::vector<MTL::CommandBufferHandler> scheduled_handlers_;
  std::vector<MTL::CommandBufferHandler> completed_handlers_;
  uint64_t interrupts_before_ = 0;
  double time_limit_ = 0;
  uint32_t forks_ = 0;  // fork_count() when it was committed
  NS::SharedPtr<NS::Error> error_;
  NS::SharedPtr<NS::String> label_;

  std::atomic<MTL::CommandBufferStatus> status_{MTL::CommandBufferStatusNotEnqueued};
  std::atomic<bool> finished_{false};  // all handlers have returned
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace metal::host
