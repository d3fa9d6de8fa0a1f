// Reads a file's small parts one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlx/io/reader.h"
#include "mlx/io/refusal.h"

namespace mlx::core::io {

// Refuses what goes beyond the end of the file before it takes memory for it.
class Cursor {
 public:
  Cursor(Reader& reader, const Refusal& refuse) : reader_(reader), refuse_(refuse) {}

  uint64_t position() const { return position_; }

  // That so many pieces of so many bytes follow; `what` names them.
  void require(uint64_t count, uint64_t bytes, const char* what) const;
  void read(void* to, uint64_t bytes, const char* what);

  template <typename T>
  T number(const char* what) {
    T value;
    read(&value, sizeof value, what);
    return value;
  }

  // Text behind its length in 8 bytes.
  std::string text(const char* what);

 private:
  Reader& reader_;
  const Refusal& refuse_;
  uint64_t position_ = 0;
  std::vector<char> buffer_;  // what was read ahead
  uint64_t buffer_begin_ = 0;
};

}  // namespace mlx::core::io
