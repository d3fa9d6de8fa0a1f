// Streams of both devices are queues of the Metal device: kernels and host tasks of one stream run
// in order.
#include "mlx/backend/cpu/eval.h"

#include <stdexcept>

#include "mlx/backend/gpu/eval.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/metal.h"
#include "mlx/backend/metal/stream_state.h"
#include "mlx/interrupt.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

namespace {

// So many operations are collected before they start to run while the host goes on.
constexpr int kOperationsPerCommit = 32;

metal::StreamState& state_of(Stream stream) {
  return metal::device(stream.device).get_stream(stream.index);
}

template <typename Run>
void eval_on(array& arr, Run run) {
  auto& state = state_of(arr.primitive().stream());
  std::lock_guard lock(state.mutex);
  auto outputs = arr.outputs();
  run(arr.primitive(), arr.inputs(), outputs);
  state.keep(arr.inputs(), outputs);
  if (state.operations >= kOperationsPerCommit) {
    state.commit();
  }
}

void finalize_stream(Stream stream) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.commit();
}

void help_stream(Stream stream, const std::function<bool()>& done) {
  state_of(stream).queue->help(done, WaitPoll::current());
}

void synchronize_stream(Stream stream) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.synchronize();
}

void wait_on(Stream stream, const Event& event) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.handle.add_host_task([event] { event.wait(); });
}

void signal_on(Stream stream, const Event& event) {
  auto& state = state_of(stream);
  std::lock_guard lock(state.mutex);
  state.commit([event](std::exception_ptr error) { event.notify(error); });
}

}  // namespace

namespace cpu {

void new_stream(Stream stream) { state_of(stream); }

void eval(array& arr) {
  eval_on(arr,
          [](Primitive& primitive, const std::vector<array>& inputs, std::vector<array>& outputs) {
            // A primitive that computes in eval_cpu itself reads its inputs there.
            if (!primitive.encodes()) {
              state_of(primitive.stream()).synchronize();
            }
            primitive.eval_cpu(inputs, outputs);
          });
}

void finalize(Stream stream) { finalize_stream(stream); }
void help(Stream stream, const std::function<bool()>& done) { help_stream(stream, done); }
void synchronize(Stream stream) { synchronize_stream(stream); }
void wait(Stream stream, const Event& event) { wait_on(stream, event); }
void signal(Stream stream, const Event& event) { signal_on(stream, event); }

}  // namespace cpu

namespace gpu {

bool is_available() { return metal::is_available(); }

void new_stream(Stream stream) { state_of(stream); }

void eval(array& arr) {
  eval_on(arr, [](Primitive& primitive, const std::vector<array>& inputs,
                  std::vector<array>& outputs) { primitive.eval_gpu(inputs, outputs); });
}

void finalize(Stream stream) { finalize_stream(stream); }
void help(Stream stream, const std::function<bool()>& done) { help_stream(stream, done); }
void synchronize(Stream stream) { synchronize_stream(stream); }
void wait(Stream stream, const Event& event) { wait_on(stream, event); }
void signal(Stream stream, const Event& event) { signal_on(stream, event); }

}  // namespace gpu

}  // namespace mlx::core
