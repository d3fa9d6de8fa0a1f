// The memory of arrays that a stream keeps for the work that it has not finished.
#pragma once

#include <memory>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// A stream runs its work in order, so what it keeps for earlier work does not prevent later work on
// the same stream from overwriting an array. The references here are counted for that question.
class KeptMemory {
 public:
  explicit KeptMemory(int stream) : stream_(stream) {}
  ~KeptMemory() { clear(); }
  KeptMemory(KeptMemory&&) = default;  // the other one is empty then
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  void add(std::shared_ptr<array::Data> data);
  void clear();

 private:
  int stream_;
  std::vector<std::shared_ptr<array::Data>> counted_;
  std::vector<std::shared_ptr<array::Data>> others_;  // that another stream keeps too
};

// Whether nobody refers to the array's memory but the array and the stream.
bool is_kept_only_by(const array& a, const Stream& stream);

}  // namespace mlx::core
