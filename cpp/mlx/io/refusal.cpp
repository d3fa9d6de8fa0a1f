// Errors about files that do not follow their format.
#include "mlx/io/refusal.h"

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace mlx::core::io {

std::string in_quotes(std::string_view text) {
  constexpr size_t kMax = 200;
  std::string out = "\"";
  for (unsigned char c : text.substr(0, kMax)) {
    if (c >= ' ' && c < 127) {
      out += static_cast<char>(c);
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
      out += escaped;
    }
  }
  return out + (text.size() > kMax ? "...\"" : "\"");
}

void Refusal::operator()(const std::string& what) const {
  throw std::runtime_error("[" + op + "] " + label + ": " + what);
}

void Refusal::invalid(const std::string& what) const { invalid_argument(op, label + ": " + what); }

std::string system_error() { return std::generic_category().message(errno); }

}  // namespace mlx::core::io
