// Backend: what connects the processes of a group.
#pragma once

#include <cstddef>
#include <memory>

#include "mlx/dtype.h"
#include "mlx/interrupt.h"
#include "mlx/stream.h"

namespace mlx::core::distributed {

enum class Reduction { sum, max, min };

// The collective operations run in tasks of the group's stream, one at a time, in the order in
// which all processes evaluate them. They throw std::runtime_error if a process is lost, if the
// processes do different things, or after an interruption; the group cannot be used after that.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual int rank() const = 0;  // of this process
  virtual int size() const = 0;
  // All communication of the group runs on this stream, while others compute.
  virtual Stream stream() const = 0;
  virtual std::shared_ptr<Backend> split(int color, int key) = 0;
  // Throws std::runtime_error if this process cannot send to the other or receive from it.
  virtual void check_peer(const char* op, int other) const = 0;

  // Arrays have `count` elements of the type. `in` and `out` may be the same memory.
  virtual void all_reduce(Reduction reduction, Dtype dtype, const char* in, char* out, size_t count,
                          const Interruption& interruption) = 0;
  // `out` has the elements of all processes, one after the other.
  virtual void all_gather(Dtype dtype, const char* in, char* out, size_t count,
                          const Interruption& interruption) = 0;
  // `in` has so many elements for each process, and so has `partial`, which is overwritten.
  virtual void sum_scatter(Dtype dtype, const char* in, char* partial, char* out, size_t count,
                           const Interruption& interruption) = 0;
  virtual void send(Dtype dtype, const char* in, size_t count, int to,
                    const Interruption& interruption) = 0;
  virtual void receive(Dtype dtype, char* out, size_t count, int from,
                       const Interruption& interruption) = 0;
};

}  // namespace mlx::core::distributed
