// Reads a file's fields one after the other.
#include "mlx/io/cursor.h"

#include <algorithm>
#include <cstring>

namespace mlx::core::io {

void Cursor::require(uint64_t count, uint64_t bytes, const char* what) const {
  const uint64_t left = file_.size() - position_;
  if (bytes > 0 && count > left / bytes) {
    refuse_(message("The file ends within ", what, ": ", count, " times ", bytes,
                    " bytes are needed, but ", left, " are left."));
  }
}

void Cursor::read(void* to, uint64_t bytes, const char* what) {
  require(bytes, 1, what);
  constexpr uint64_t kAhead = 1 << 16;
  if (bytes >= kAhead) {
    file_.read(to, bytes, position_);
  } else if (bytes > 0) {
    if (position_ + bytes > buffer_begin_ + buffer_.size()) {
      buffer_.resize(std::min(kAhead, file_.size() - position_));
      buffer_begin_ = position_;
      file_.read(buffer_.data(), buffer_.size(), position_);
    }
    std::memcpy(to, buffer_.data() + (position_ - buffer_begin_), bytes);
  }
  position_ += bytes;
}

std::string Cursor::text(const char* what) {
  const auto length = number<uint64_t>(what);
  require(length, 1, what);
  std::string out(length, '\0');
  read(out.data(), length, what);
  return out;
}

}  // namespace mlx::core::io
