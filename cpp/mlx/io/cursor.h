// Reads a file's fields one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlx/io/refusal.h"
#include "mlx/io/section.h"

namespace mlx::core::io {

// Checks that a field ends within the file before it allocates memory.
class Cursor {
 public:
  Cursor(const Section& file, const Refusal& refuse) : file_(file), refuse_(refuse) {}

  uint64_t position() const { return position_; }

  // Checks that `count` items of so many bytes follow; `what` names them.
  void require(uint64_t count, uint64_t bytes, const char* what) const;
  void read(void* to, uint64_t bytes, const char* what);

  template <typename T>
  T number(const char* what) {
    T value;
    read(&value, sizeof value, what);
    return value;
  }

  // Reads a text after its length in 8 bytes.
  std::string text(const char* what);

 private:
  const Section& file_;
  const Refusal& refuse_;
  uint64_t position_ = 0;
  std::vector<char> buffer_;  // read ahead
  uint64_t buffer_begin_ = 0;
};

}  // namespace mlx::core::io
