// A stream's command buffers, and what they keep alive.
#include "mlx/backend/metal/stream_state.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "metal/driver.h"
#include "mlx/interrupt.h"
#include "mlx/scheduler.h"

namespace mlx::core::metal {

void StreamState::Errors::set(std::exception_ptr error) {
  std::lock_guard lock(mutex);
  if (!first) {
    first = std::move(error);
    any = true;
  }
}

std::exception_ptr StreamState::Errors::take() {
  if (!any) {
    return nullptr;
  }
  std::lock_guard lock(mutex);
  any = false;
  return std::exchange(first, nullptr);
}

StreamState::StreamState(MTL::Device* device, int index)
    : index(index),
      device_has_memory(::metal::default_driver().device_memory() != nullptr),
      queue(NS::TransferPtr(device->newCommandQueue())),
      handle(*this),
      inputs(index) {}

// A device with memory of its own starts what it gets without another thread, so it should not wait
// for the host: it gets the first operation when the second one comes, then twice as many each
// time. Operations that encode nothing, such as views, do not count.
void StreamState::start_early() {
  if (!std::exchange(begins_operation, false) || operations < operations_of_start) return;
  operations_of_start *= 2;
  commit({}, MTL::NextCall::Commit);
}

MTL::CommandBuffer* StreamState::command_buffer() {
  start_early();
  if (!buffer) {
    check_open();
    buffer = NS::TransferPtr(queue->newCommandBuffer());
  }
  return buffer.get();
}

MTL::ComputeCommandEncoder* StreamState::compute_encoder() {
  start_early();
  if (!encoder) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    encoder = NS::RetainPtr(command_buffer()->computeCommandEncoder());
    command_buffer()->runSmallLaunches();
  }
  return encoder.get();
}

void StreamState::end_encoding() {
  if (encoder) {
    encoder->endEncoding();
    encoder.reset();
    checks = 0;
  }
}

bool StreamState::has_nothing_to_run() {
  if (!buffer) {
    return true;
  }
  if (!encoder || !encoder->reuse()) {
    return false;
  }
  checks = 0;
  return true;
}

bool StreamState::has_run() {
  if (!has_nothing_to_run() || !queue->isIdle() || errors->any) {
    return false;
  }
  inputs.clear();
  outputs.clear();
  temporaries.clear();
  operations = 0;
  bytes = 0;
  return true;
}

void StreamState::commit(std::function<void(std::exception_ptr)> done, MTL::NextCall next) {
  begins_operation = false;
  if (has_nothing_to_run() && !done) {
    return;
  }
  end_encoding();
  struct Kept {
    KeptMemory data;
    std::vector<array> temporaries;
  };
  auto kept = std::make_shared<Kept>(std::move(inputs), std::move(temporaries));
  for (auto& output : outputs) {
    if (auto data = output.lock()) {
      kept->data.add(std::move(data));
    }
  }
  temporaries.clear();
  outputs.clear();
  operations = 0;

  Stream stream = get_stream(index);
  const size_t allocated = std::exchange(bytes, 0);
  scheduler::notify_new_task(stream, allocated);
  command_buffer()->addCompletedHandler([kept = std::move(kept), done = std::move(done),
                                         errors = errors, stream,
                                         allocated](MTL::CommandBuffer* ran) mutable {
    kept.reset();
    if (auto* error = ran->error()) {
      errors->set(
          std::make_exception_ptr(std::runtime_error(error->localizedDescription()->utf8String())));
    }
    if (done) {
      done(errors->take());
    }
    scheduler::notify_task_completion(stream, allocated);
  });
  buffer->commitBefore(next);
  last = std::move(buffer);
}

void StreamState::wait() {
  commit();
  if (last) {
    auto& poll = WaitPoll::current();
    poll ? last->waitUntilCompleted(poll) : last->waitUntilCompleted();
  }
}

void StreamState::synchronize() {
  wait();
  if (auto error = errors->take()) {
    std::rethrow_exception(error);
  }
}

void StreamState::close() {
  wait();
  last.reset();
  encoder.reset();
  buffer.reset();
  queue.reset();
}

void StreamState::check_open() const {
  if (!queue) {
    throw std::runtime_error("There is no stream " + std::to_string(index) +
                             ": clear_streams has destroyed it.");
  }
}

void StreamState::HostUse::add(const array& a, bool writes) {
  const auto& data = a.data_shared_ptr();
  if (!data || !data->buffer.ptr()) {
    return;
  }
  std::lock_guard lock(mutex);
  (writes ? written : read).push_back(NS::RetainPtr(static_cast<MTL::Buffer*>(data->buffer.ptr())));
}

void StreamState::HostUse::prepare() {
  std::lock_guard lock(mutex);
  const auto make_current = [](MTL::Buffer* buffer, MTL::HostAccess access) {
    buffer->hostContents(access, 0, buffer->length());
  };
  for (auto& buffer : read) {
    make_current(buffer.get(), MTL::HostAccess::Read);
  }
  for (auto& buffer : written) {
    make_current(buffer.get(), MTL::HostAccess::Write);
  }
}

namespace {

bool is_among(const std::vector<array>& arrays, const std::shared_ptr<array::Data>& data) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [&](const array& a) { return a.data_shared_ptr() == data; });
}

}  // namespace

void StreamState::keep(const std::vector<array>& in, const std::vector<array>& out) {
  for (auto& a : in) {
    auto& data = a.data_shared_ptr();
    if (data && !is_among(out, data)) inputs.add(data);
  }
  for (auto& a : out) {
    auto& data = a.data_shared_ptr();
    if (!data) continue;
    outputs.push_back(data);
    if (!is_among(in, data)) bytes += a.nbytes();
  }
}

}  // namespace mlx::core::metal
