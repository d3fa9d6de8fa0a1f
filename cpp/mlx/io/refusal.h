// Errors about files that do not follow their format.
#pragma once

#include <string>
#include <string_view>

#include "mlx/errors.h"

namespace mlx::core::io {

// Quotes a text: escapes everything but printable ASCII, and cuts long texts.
std::string in_quotes(std::string_view text);

// Rejects a file: throws std::runtime_error, "[operation] file: what is wrong."
struct Refusal {
  std::string op;
  std::string label;

  [[noreturn]] void operator()(const std::string& what) const;
  // Rejects a file as an argument: throws std::invalid_argument with a message like that.
  [[noreturn]] void invalid(const std::string& what) const;
};

// The message of the last error of the system.
std::string system_error();

}  // namespace mlx::core::io
