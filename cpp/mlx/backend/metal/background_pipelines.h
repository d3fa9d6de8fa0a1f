// Pipelines that are compiled on a thread of their own while the program goes on.
#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <memory>
#include <mutex>

#include "mlx/backend/metal/build_pipeline.h"
#include "mlx/device.h"

namespace mlx::core {

// One that is being compiled.
class PendingPipeline {
 public:
  PendingPipeline(PipelineSource source, Device device)
      : source_(std::move(source)), device_(device) {}

  // Null until it has been compiled, and where that failed.
  MTL::ComputePipelineState* get() const { return pipeline_.load(std::memory_order_acquire); }
  // Compiles it now, unless it has been; throws the compiler's message.
  MTL::ComputePipelineState* wait();

 private:
  PipelineSource source_;
  Device device_;
  std::mutex mutex_;  // of whoever compiles it
  NS::SharedPtr<MTL::ComputePipelineState> owner_;
  std::atomic<MTL::ComputePipelineState*> pipeline_{nullptr};
};

// The pipeline of this source, which other callers may have asked for before.
std::shared_ptr<PendingPipeline> start_pipeline(PipelineSource source, Device device);

// Around fork(): the first waits until nothing is being compiled and keeps it so until the second;
// the third is for the child, where nothing is.
void pause_pipelines();
void resume_pipelines();
void forget_pending_pipelines();

}  // namespace mlx::core
