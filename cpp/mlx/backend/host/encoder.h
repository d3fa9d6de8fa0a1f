// cpu::CommandEncoder: schedules work of the host on a stream, in order with its kernels.
#pragma once

#include "mlx/array.h"
#include "mlx/scheduler.h"
#include "mlx/stream.h"

namespace mlx::core::cpu {

class CommandEncoder {
 public:
  explicit CommandEncoder(Stream stream) : stream_(stream) {}

  // The stream keeps the memory of a primitive's inputs and outputs until it has used it. Other
  // arrays need add_temporary.
  void set_input_array(const array&) {}
  void set_output_array(array&) {}
  void add_temporary(array a);
  void add_temporaries(std::vector<array> arrays);

  // Schedules task(args...). The task must not hold arrays, only pointers, shapes and strides.
  template <typename F, typename... Args>
  void dispatch(F&& task, Args&&... args) {
    auto bound =
        std::make_shared<decltype(std::bind(std::forward<F>(task), std::forward<Args>(args)...))>(
            std::bind(std::forward<F>(task), std::forward<Args>(args)...));
    schedule([bound] { (*bound)(); }, false);
  }
  // The same for a task that makes at most so many operations on numbers: a short one runs at once
  // if nothing is ahead of it.
  template <typename F>
  void dispatch_counted(uint64_t operations, F&& task) {
    schedule(std::forward<F>(task), operations <= kFewOperations);
  }

 private:
  static constexpr uint64_t kFewOperations = 1 << 15;

  void schedule(std::function<void()> task, bool ends_soon);

  Stream stream_;
};

CommandEncoder& get_command_encoder(Stream stream);

}  // namespace mlx::core::cpu
