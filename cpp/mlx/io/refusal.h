// The errors of files that are not what their format asks for.
#pragma once

#include <string>
#include <string_view>

#include "mlx/errors.h"

namespace mlx::core::io {

// In quotes, with everything but printable ASCII escaped, and cut where it is long.
std::string in_quotes(std::string_view text);

// Refuses a file: throws std::runtime_error, "[operation] file: what is wrong."
struct Refusal {
  std::string op;
  std::string label;

  [[noreturn]] void operator()(const std::string& what) const;
};

// The error of the system's last call.
std::string system_error();

}  // namespace mlx::core::io
