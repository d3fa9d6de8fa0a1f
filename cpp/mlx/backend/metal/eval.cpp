// Streams of both devices are queues of the Metal device: kernels and host tasks of one stream run
// in order.
#include "mlx/backend/metal/eval.h"

#include "metal/driver.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/stream_state.h"
#include "mlx/interrupt.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core::metal {

namespace {

// The encoder collects so many operations before they start to run while the host goes on.
constexpr int kOperationsPerCommit = 32;
// Or so many, if they allocated this part of what may be in flight.
constexpr int kOperationsPerEarlyCommit = 16;
constexpr size_t kBytesPart = 8;

StreamState& state_of(Stream stream) { return device(stream.device).get_stream(stream.index); }

// While it exists, the stream notes what memory the host tasks of a primitive may access.
class NotesHostUse {
 public:
  NotesHostUse(StreamState& state, const std::vector<array>& inputs,
               const std::vector<array>& outputs)
      : state_(state), outputs_(outputs) {
    if (!state.device_has_memory) {
      return;
    }
    state_.host_use = std::make_shared<StreamState::HostUse>();
    for (const auto& input : inputs) {
      state_.host_use->add(input, false);
    }
  }
  ~NotesHostUse() {
    if (auto use = std::move(state_.host_use)) {
      for (const auto& output : outputs_) {
        use->add(output, true);
      }
    }
  }
  NotesHostUse(const NotesHostUse&) = delete;
  NotesHostUse& operator=(const NotesHostUse&) = delete;

 private:
  StreamState& state_;
  const std::vector<array>& outputs_;
};

void run_on_host(Primitive& primitive, StreamState& state, const std::vector<array>& inputs,
                 std::vector<array>& outputs) {
  // A primitive that computes in eval_cpu itself reads its inputs there, so they must be computed.
  if (!primitive.encodes()) {
    state.synchronize();
    primitive.eval_cpu(inputs, outputs);
    return;
  }
  const allocator::AddressesOnly addresses_only;
  primitive.eval_cpu(inputs, outputs);
}

}  // namespace

size_t max_bytes_in_flight() {
  static const bool device_has_memory = ::metal::default_driver().device_memory() != nullptr;
  return device_has_memory ? size_t{1} << 32 : size_t{1} << 28;
}

void new_stream(Stream stream) { device(stream.device).add_stream(stream); }

bool eval(array& arr) {
  auto& primitive = arr.primitive();
  auto& state = state_of(primitive.stream());
  std::lock_guard lock(state.mutex);
  state.check_open();
  state.begin_operation();
  const allocator::OnDevice on_device(primitive.stream().device);
  auto outputs = arr.outputs();
  // The gradient of an array in a graph that stays needs the inputs: they must not be overwritten.
  const auto needed = arr.keeps_graph() ? arr.inputs() : std::vector<array>{};
  const NotesHostUse notes_host_use(state, arr.inputs(), outputs);
  if (primitive.stream().device.type == mlx::core::Device::gpu) {
    const allocator::AddressesOnly addresses_only;
    primitive.eval_gpu(arr.inputs(), outputs);
  } else {
    run_on_host(primitive, state, arr.inputs(), outputs);
  }
  if (state.has_run()) {
    return true;
  }
  state.keep(arr.inputs(), outputs);
  const bool large = state.bytes >= max_bytes_in_flight() / kBytesPart;
  if (state.operations >= (large ? kOperationsPerEarlyCommit : kOperationsPerCommit)) {
    state.commit({}, MTL::NextCall::Commit);
  }
  return false;
}

void finalize(Stream stream) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.operations_of_start = 1;
  state.commit();
}

void help(Stream stream, const std::function<bool()>& done) {
  if (auto queue = state_of(stream).queue) {
    queue->runUntil(done, WaitPoll::current());
  }
}

void complete_soon() {
  for (auto* device : all_devices()) device->complete_soon();
}

void synchronize(Stream stream) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.synchronize();
}

void close_stream(Stream stream) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.close();
}

void wait(Stream stream, const Event& event) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.handle.add_host_task([event] { event.wait(); });
}

void signal(Stream stream, const Event& event, bool caller_waits) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  try {
    state.check_open();
  } catch (...) {
    event.notify(std::current_exception());
    return;
  }
  state.operations_of_start = 1;
  state.commit([event](std::exception_ptr error) { event.notify(error); },
               caller_waits ? MTL::NextCall::Wait : MTL::NextCall::Other);
}

}  // namespace mlx::core::metal
