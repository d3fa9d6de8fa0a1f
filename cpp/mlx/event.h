// A counter that streams signal and that streams or the host wait for.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

#include "mlx/stream.h"

namespace mlx::core {

class Event {
 public:
  Event() = default;
  explicit Event(Stream stream);

  bool valid() const { return state_ != nullptr; }
  uint64_t value() const { return value_; }
  void set_value(uint64_t value) { value_ = value; }
  const Stream& stream() const { return stream_; }

  // Blocks the caller until the value is reached; rethrows the error that the stream met before it.
  void wait() const;
  bool is_signaled() const;

  // Schedules: `stream` goes on once the value is reached / reaches the value once its earlier work
  // is done.
  void wait(Stream stream) const;
  void signal(Stream stream) const;

  // What schedulers call when the moment has come. A non-null error reaches everyone who waits.
  void notify(std::exception_ptr error = nullptr) const;
  // An error of the other event is one of this too: what it announces is computed from what the
  // other announces. The other comes first.
  void require(const Event& other) const;
  // Holds an object until the value is reached.
  void keep(std::shared_ptr<void> object) const;
  // The error of a signaled event, if any.
  std::exception_ptr error() const;

 private:
  struct State;
  void refuse_if_lost() const;
  Stream stream_{0, Device::cpu};
  std::shared_ptr<State> state_;
  uint64_t value_{0};
};

}  // namespace mlx::core
