// The thread that compiles, and its queue.
#include "mlx/backend/metal/background_pipelines.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "mlx/backend/metal/device.h"
#include "mlx/bounded_cache.h"
#include "mlx/errors.h"
#include "mlx/fork.h"

namespace mlx::core {

namespace {

using PendingPtr = std::shared_ptr<PendingPipeline>;

class Worker {
 public:
  ~Worker() { stop(); }

  void add(PendingPtr pipeline) {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    queue_.push_back(std::move(pipeline));
    changed_.notify_one();
  }

  void pause() { compiling_.lock(); }
  void resume() { compiling_.unlock(); }

 private:
  void run() {
    for (PendingPtr next = take(); next; next = take()) {
      std::lock_guard lock(compiling_);
      try {
        next->wait();
      } catch (const std::exception&) {
        // Compilation failed: the operations then run one by one, with the same results.
      }
    }
  }

  PendingPtr take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return nullptr;
    PendingPtr next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::mutex compiling_;
  std::condition_variable changed_;
  std::deque<PendingPtr> queue_;
  std::thread thread_;
  bool stopping_ = false;
};

// The worker thread is joined when the process ends. In the child of a fork that thread does not
// exist: the child drops its parent's worker without touching it.
struct WorkerOwner {
  Worker* worker = new Worker;
  ~WorkerOwner() { delete worker; }
};

WorkerOwner& worker_owner() {
  static WorkerOwner owner;
  return owner;
}

constexpr size_t kMaxPipelines = 1024;

}  // namespace

MTL::ComputePipelineState* PendingPipeline::wait() {
  std::lock_guard lock(mutex_);
  if (!owner_) {
    try {
      owner_ = build_pipeline(source_, metal::device(device_).mtl_device());
    } catch (const PipelineError& error) {
      internal_error("compile", source_.label + ": " + error.what() + "\n" + source_.text);
    }
    owner_->setBounded();  // loops of generated kernels are bounded by shapes
    pipeline_.store(owner_.get(), std::memory_order_release);
  }
  return get();
}

std::shared_ptr<PendingPipeline> start_pipeline(PipelineSource source, Device device) {
  static auto& mutex = *new std::mutex;
  static auto& pipelines = *new BoundedCache<std::string, PendingPtr>(kMaxPipelines);
  watch_forks();
  std::string key = source.text + (device.type == Device::gpu ? "gpu" : "cpu");
  std::lock_guard lock(mutex);
  return pipelines.get(std::move(key), [&] {
    auto made = std::make_shared<PendingPipeline>(std::move(source), device);
    worker_owner().worker->add(made);
    return made;
  });
}

MTL::ComputePipelineState* PipelineVariants::find(const std::string& key, Device device,
                                                  const std::function<PipelineSource()>& write) {
  std::shared_ptr<PendingPipeline> pipeline;
  {
    std::lock_guard lock(mutex_);
    auto& slot = pipelines_[key + (device.type == Device::gpu ? 'G' : 'C')];
    if (!slot) slot = start_pipeline(write(), device);
    pipeline = slot;
  }
  if (auto* ready = pipeline->get()) return ready;
  const char* background = std::getenv("MLX_COMPILE_BACKGROUND");
  const bool wait = background && std::string_view(background) == "0";
  return wait ? pipeline->wait() : nullptr;
}

void pause_pipelines() { worker_owner().worker->pause(); }
void resume_pipelines() { worker_owner().worker->resume(); }
void forget_pending_pipelines() { worker_owner().worker = new Worker; }

}  // namespace mlx::core
