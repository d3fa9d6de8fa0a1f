// Compiles pipelines on a thread of its own while the program goes on.
#pragma once

#include <Metal/Metal.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "mlx/backend/metal/build_pipeline.h"
#include "mlx/device.h"

namespace mlx::core {

// A pipeline that is being compiled.
class PendingPipeline {
 public:
  PendingPipeline(PipelineSource source, Device device)
      : source_(std::move(source)), device_(device) {}

  // Returns null until the pipeline has been compiled, and if that failed.
  MTL::ComputePipelineState* get() const { return pipeline_.load(std::memory_order_acquire); }
  // Compiles it now unless it has been compiled; throws the compiler's message.
  MTL::ComputePipelineState* wait();

 private:
  PipelineSource source_;
  Device device_;
  std::mutex mutex_;  // held by the thread that compiles it
  NS::SharedPtr<MTL::ComputePipelineState> owner_;
  std::atomic<MTL::ComputePipelineState*> pipeline_{nullptr};
};

// Returns the pipeline of this source, which may exist already.
std::shared_ptr<PendingPipeline> start_pipeline(PipelineSource source, Device device);

// The pipelines of one generated kernel, by what distinguishes them.
class PipelineVariants {
 public:
  // Returns the pipeline, or null while another thread compiles it, which the first call starts.
  // With MLX_COMPILE_BACKGROUND=0 in the environment the call waits for it.
  MTL::ComputePipelineState* find(const std::string& key, Device device,
                                  const std::function<PipelineSource()>& write);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<PendingPipeline>> pipelines_;
};

// Around fork(): the first waits until nothing is being compiled, and keeps it so until the second.
// The third is for the child, where nothing is being compiled.
void pause_pipelines();
void resume_pipelines();
void forget_pending_pipelines();

}  // namespace mlx::core
