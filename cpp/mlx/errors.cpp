// The messages of operations that refuse their arguments.
#include "mlx/errors.h"

#include <stdexcept>

namespace mlx::core {

void invalid_argument(const std::string& op, const std::string& message) {
  throw std::invalid_argument("[" + op + "] " + message);
}

void internal_error(const std::string& function, const std::string& message) {
  throw std::logic_error("Internal error in " + function + ": " + message);
}

namespace {

template <typename Numbers>
std::string tuple_text(const Numbers& numbers) {
  std::string out = "(";
  for (size_t i = 0; i < numbers.size(); ++i) {
    out += (i ? "," : "") + std::to_string(numbers[i]);
  }
  return out + ")";
}

}  // namespace

std::string text(const Shape& value) { return tuple_text(value); }
std::string text(const Strides& value) { return tuple_text(value); }
std::string text(Dtype value) { return dtype_to_string(value); }

}  // namespace mlx::core
