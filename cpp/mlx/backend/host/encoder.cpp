// Host tasks go through the stream's command buffers.
#include "mlx/backend/host/encoder.h"

#include <mutex>
#include <unordered_map>

#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/eval.h"

namespace mlx::core::cpu {

void CommandEncoder::add_temporary(array a) {
  metal::get_command_encoder(stream_).add_temporary(std::move(a));
}

void CommandEncoder::add_temporaries(std::vector<array> arrays) {
  metal::get_command_encoder(stream_).add_temporaries(std::move(arrays));
}

void CommandEncoder::schedule(std::function<void()> task, bool ends_soon) {
  metal::get_command_encoder(stream_).add_host_task(std::move(task), ends_soon);
}

CommandEncoder& get_command_encoder(Stream stream) {
  static std::mutex mutex;
  static auto* encoders = new std::unordered_map<int, CommandEncoder>();
  std::lock_guard lock(mutex);
  return encoders->try_emplace(stream.index, stream).first->second;
}

}  // namespace mlx::core::cpu

namespace mlx::core::scheduler {

void enqueue(const Stream& stream, std::function<void()> task) {
  std::lock_guard lock(mutex());
  cpu::get_command_encoder(stream).dispatch(std::move(task));
  metal::finalize(stream);
}

}  // namespace mlx::core::scheduler
