// Records and runs command buffers and waits for them.
#include "metal/host/command_buffer.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "metal/host/device.h"
#include "metal/host/errors.h"
#include "metal/host/library.h"
#include "metal/host/queue.h"
#include "metal/process_end.h"
#include "metal/spin.h"

namespace metal::host {
namespace {

constexpr size_t kFirstBlock = 512, kBlock = 4096;  // a device with its own memory copies blocks
constexpr size_t kBytesAlignment = 64;

// What a launch may have at most to run in the thread that encodes it. A thread without loops takes
// nanoseconds; loops of the array library go over its buffers.
constexpr uint64_t kSmallThreads = 4096;
constexpr uint64_t kSmallBytes = uint64_t{64} << 10;

bool is_small(const Kernel& kernel, const LaunchParameters& parameters, uint64_t threads) {
  if (threads > kSmallThreads) return false;
  if (!kernel.repeats) return true;
  uint64_t bytes = 0;
  for (const ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.kind == ArgumentKind::Buffer) bytes += parameters.buffer_bytes[argument.index];
  }
  return bytes <= kSmallBytes;
}

uint64_t count_threads(const LaunchParameters& parameters) {
  uint64_t threads = 1;
  for (uint32_t count : parameters.threads_per_grid) {
    threads = std::min(threads * count, kFewThreads + 1);
  }
  return threads;
}

double time_limit() {
  const char* text = std::getenv("MLX_KERNEL_TIME_LIMIT");
  double seconds = text ? std::strtod(text, nullptr) : 0;
  return seconds > 0 ? seconds : 0;
}

MTL::CommandBufferError error_code(LaunchFault fault) {
  switch (fault) {
    case LaunchFault::TimeLimit:
    case LaunchFault::Interrupted:
      return MTL::CommandBufferErrorTimeout;
    case LaunchFault::BadAccess:
      return MTL::CommandBufferErrorPageFault;
    case LaunchFault::StackOverflow:
      return MTL::CommandBufferErrorStackOverflow;
    case LaunchFault::Trap:
      break;
  }
  return MTL::CommandBufferErrorInternal;
}

// Waits for the launches before an error, as the memory that kernels use must stay until they end.
void wait_for_rest(Stream& stream) {
  try {
    stream.wait();
  } catch (...) {  // the first error counts
  }
}

}  // namespace

CommandBufferObject::CommandBufferObject(QueueObject* queue) : queue_(NS::RetainPtr(queue)) {}

CommandBufferObject::~CommandBufferObject() { release_resources(); }

MTL::CommandQueue* CommandBufferObject::commandQueue() const { return queue_.get(); }

Driver& CommandBufferObject::driver() const { return queue_->driver(); }

MTL::ComputeCommandEncoder* CommandBufferObject::computeCommandEncoder() {
  return (new EncoderObject(this))->autorelease();
}

void CommandBufferObject::addScheduledHandler(const MTL::CommandBufferHandler& handler) {
  scheduled_handlers_.push_back(handler);
}

void CommandBufferObject::addCompletedHandler(const MTL::CommandBufferHandler& handler) {
  completed_handlers_.push_back(handler);
}

void CommandBufferObject::setLabel(const NS::String* label) {
  label_ = NS::RetainPtr(const_cast<NS::String*>(label));
}

void CommandBufferObject::addHostTask(std::function<void()> task, bool ends_soon) {
  const auto run = [&](Stream&) { task(); };
  if (ends_soon && run_now(std::ref(run))) return;
  commands_.emplace_back().task = std::move(task);
  bounded_ &= ends_soon;
  has_tasks_ = true;
}

void CommandBufferObject::addLibraryCall(const LibraryCall& call,
                                         const std::vector<MTL::LibraryBuffer>& buffers) {
  Command& command = commands_.emplace_back();
  command.call = std::make_unique<const LibraryCall>(call);
  command.parameters.trusted = true;
  uint32_t index = 0;
  for (const MTL::LibraryBuffer& bound : buffers) {
    const uint32_t at = index++;
    if (!bound.buffer) continue;
    bound.buffer->retain();
    keep(bound.buffer);
    const auto* object = static_cast<const BufferObject*>(bound.buffer);
    command.parameters.buffers[at] = static_cast<char*>(object->address()) + bound.offset;
    if (object->residency())
      command.uses.push_back({object->residency(), at, bound.written, /*from_bytes=*/false});
  }
  bounded_ = false;
}

void CommandBufferObject::add_launch(const PipelineObject& pipeline, const Kernel& kernel,
                                     const LaunchParameters& parameters, uint32_t from_bytes,
                                     Residency* const (&residencies)[kMaxBufferBindings]) {
  const uint64_t threads = count_threads(parameters);
  const bool bounded = !parameters.checked && pipeline.bounded(threads);
  const auto run = [&](Stream& stream) {
    stream.launch(kernel, parameters);
    stream.wait();
  };
  if (bounded && parameters.trusted && is_small(kernel, parameters, threads) &&
      run_now(std::ref(run)))
    return;
  Command& command = commands_.emplace_back();
  command.kernel = &kernel;
  command.parameters = parameters;
  command.uses = buffer_uses(kernel, parameters.by_value, from_bytes, residencies);
  bounded_ &= bounded;
}

// The order of the queue stays: what was committed has run, and nothing waits to be committed.
bool CommandBufferObject::run_now(const std::function<void(Stream&)>& work) {
  if (!runs_small_launches_ || !commands_.empty() || refusal_ || failure_) return false;
  try {
    return queue_->run_now(work);
  } catch (...) {
    failure_ = std::current_exception();
    return true;
  }
}

bool CommandBufferObject::forget() {
  if (!commands_.empty() || refusal_ || failure_) return false;
  if (!scheduled_handlers_.empty() || !completed_handlers_.empty()) return false;
  if (blocks_.size() == 1 && block_residencies_.empty()) {  // is filled anew
    for (const NS::Object* object : kept_) object->release();
    kept_.clear();
    block_next_ = static_cast<char*>(blocks_.front());
  } else {
    release_resources();
  }
  return true;
}

void* CommandBufferObject::copy_bytes(const void* bytes, size_t length) {
  size_t size = (length + kBytesAlignment - 1) / kBytesAlignment * kBytesAlignment;
  if (static_cast<size_t>(block_end_ - block_next_) < size) {
    size_t block = std::max(size, blocks_.empty() ? kFirstBlock : kBlock);
    block_next_ = static_cast<char*>(allocator_of(driver()).allocate(block));
    if (!block_next_) {
      block_end_ = nullptr;
      refuse("[setBytes] No memory for " + std::to_string(length) + " bytes");
      return nullptr;
    }
    block_end_ = block_next_ + block;
    blocks_.push_back(block_next_);
    if (driver().device_memory()) {
      block_residencies_.push_back(
          std::make_unique<Residency>(block_next_, block, /*counted=*/false));
      block_residencies_.back()->prepare_host(MTL::HostAccess::Write, 0, block);
    }
  }
  void* copy = block_next_;
  block_next_ += size;
  std::memcpy(copy, bytes, length);
  return copy;
}

Residency* CommandBufferObject::bytes_residency() const {
  return block_residencies_.empty() ? nullptr : block_residencies_.back().get();
}

void CommandBufferObject::refuse(const std::string& reason) {
  if (!refusal_) refusal_ = reason;
}

void CommandBufferObject::enqueue() {
  auto expected = MTL::CommandBufferStatusNotEnqueued;
  status_.compare_exchange_strong(expected, MTL::CommandBufferStatusEnqueued);
}

void CommandBufferObject::commitBefore(MTL::NextCall next) {
  if (status_.load() >= MTL::CommandBufferStatusCommitted) return;
  interrupts_before_ = interrupt_count();
  time_limit_ = time_limit();
  forks_ = fork_count();
  status_.store(MTL::CommandBufferStatusCommitted);
  queue_->submit(this, next);
}

bool CommandBufferObject::may_overlap() const {
  const auto shares = [](const BufferUse& use) { return use.residency->is_shared(); };
  return !has_tasks_ && std::ranges::none_of(commands_, [&](const Command& command) {
    return std::ranges::any_of(command.uses, shares);
  });
}

void CommandBufferObject::start(Stream& stream, const std::function<void()>& poll) {
  status_.store(MTL::CommandBufferStatusScheduled);
  try {
    for (auto& handler : scheduled_handlers_) handler(this);
    if (refusal_) throw std::invalid_argument(*refusal_);
    if (failure_) std::rethrow_exception(failure_);
    transfers_.emplace(stream, driver().device_memory());
    run_commands(stream, poll);
    mark_ = stream.mark();
  } catch (...) {
    fail_from_exception();
    wait_for_rest(stream);
  }
}

void CommandBufferObject::complete(Stream& stream, const std::function<void()>& poll) {
  const auto attempt = [this](auto&& step) {
    try {
      step();
    } catch (...) {
      fail_from_exception();
    }
  };
  if (!error_) attempt([&] { stream.wait_for(mark_, poll); });
  if (transfers_) attempt([&] { transfers_->settle(); });
  transfers_.reset();
  finish();
}

void CommandBufferObject::run_commands(Stream& stream, const std::function<void()>& poll) {
  for (Command& command : commands_) {
    if (poll) poll();
    InUse::check();
    if (interrupt_count() != interrupts_before_) {
      throw LaunchError(LaunchFault::Interrupted, "[CommandBuffer] Interrupted before its end");
    }
    run(command, stream);
  }
}

void CommandBufferObject::run(Command& command, Stream& stream) {
  if (command.task) {
    transfers_->finish();
    command.task();
    return;
  }
  command.parameters.interrupts_before = interrupts_before_;
  command.parameters.time_limit = time_limit_;
  transfers_->prepare(command.uses, command.parameters);
  if (command.call) {
    stream.start(*command.call, command.parameters);
  } else {
    stream.launch(*command.kernel, command.parameters);
  }
}

// The first error counts.
void CommandBufferObject::fail_from_exception() {
  if (error_) return;
  NS::Integer code = MTL::CommandBufferErrorInternal;
  NS::Error* error = nullptr;
  try {
    throw;
  } catch (const LaunchError& launch) {
    code = error_code(launch.fault);
  } catch (const std::invalid_argument&) {
    code = MTL::CommandBufferErrorInvalidResource;
  } catch (...) {
  }
  set_error_from_exception(&error, kCommandBufferDomain, code);
  error_ = NS::RetainPtr(error);
}

void CommandBufferObject::finish() {
  release_resources();
  auto status = error_ ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted;
  // Handlers see the final status.
  status_.store(status);
  for (auto& handler : completed_handlers_) {
    try {
      handler(this);
    } catch (...) {  // the other handlers and the waiting threads must still run
      fail_from_exception();
      status_.store(MTL::CommandBufferStatusError);
    }
  }
  scheduled_handlers_.clear();
  completed_handlers_.clear();
}

void CommandBufferObject::wake_waiting_threads() {
  std::lock_guard lock(mutex_);
  finished_.store(true);
  changed_.notify_all();
}

void CommandBufferObject::release_resources() {
  commands_.clear();
  for (const NS::Object* object : kept_) object->release();
  kept_.clear();
  for (void* block : blocks_) allocator_of(driver()).deallocate(block);
  blocks_.clear();
  block_residencies_.clear();
  block_next_ = block_end_ = nullptr;
}

void CommandBufferObject::waitUntilScheduled() { waitUntilCompleted(); }

void CommandBufferObject::waitUntilCompleted(const std::function<void()>& poll) {
  if (status_.load() < MTL::CommandBufferStatusCommitted || forks_ != fork_count()) return;
  auto finished = [this] { return finished_.load(); };
  queue_->runUntil(finished, poll);
  spin_until(finished);
  std::unique_lock lock(mutex_);
  while (!finished_.load()) {
    if (!poll) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, kPollInterval) == std::cv_status::timeout) {
      lock.unlock();
      poll();
      lock.lock();
    }
  }
}

}  // namespace metal::host
