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

  // Blocks the caller until the value is reached; rethrows an error that the stream met before.
  void wait() const;
  bool is_signaled() const;

  // Schedules work on `stream`. After wait, the stream goes on once the value is reached; after
  // signal, it sets the value once its earlier work is done. With `caller_waits`, the caller waits
  // for the event next.
  void wait(Stream stream) const;
  void signal(Stream stream, bool caller_waits = false) const;

  // Called by schedulers: sets the value. A non-null error is rethrown in everyone who waits.
  void notify(std::exception_ptr error = nullptr) const;
  // Errors of the other event become errors of this one, since its values are computed from the
  // other's. The other event is signaled first.
  void require(const Event& other) const;
  // Keeps an object alive until the value is reached.
  void keep(std::shared_ptr<void> object) const;
  // Returns the error of a signaled event, if any.
  std::exception_ptr error() const;

 private:
  struct State;
  void refuse_if_lost() const;
  Stream stream_{0, Device::cpu};
  std::shared_ptr<State> state_;
  uint64_t value_{0};
};

}  // namespace mlx::core
