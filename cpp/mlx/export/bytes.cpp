// Writes and reads values as bytes.
#include "mlx/export/bytes.h"

#include "mlx/errors.h"

namespace mlx::core::exported {

std::string_view ByteReader::take(size_t count) {
  if (count > left_.size()) {
    refuse_(message("The file is damaged: ", count, " bytes are needed, but ", left_.size(),
                    " are left."));
  }
  const std::string_view taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

}  // namespace mlx::core::exported
