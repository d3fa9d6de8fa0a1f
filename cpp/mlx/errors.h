// The messages of operations that reject their arguments: "[operation] What is wrong, and what was
// given."
#pragma once

#include <stdexcept>
#include <string>

#include "mlx/array.h"

namespace mlx::core {

// An axis that an array does not have. In Python it is an IndexError as well as a ValueError.
struct AxisError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Throws std::invalid_argument.
[[noreturn]] void invalid_argument(const std::string& op, const std::string& message);

// Returns the length of an axis; throws if it is out of range.
ShapeElem checked_extent(int64_t extent, const std::string& op);
// a * b, or the largest number if the product is larger. Neither is negative.
int64_t saturated_product(int64_t a, int64_t b);

// Errors for broken invariants, which no user can cause.
[[noreturn]] void internal_error(const std::string& function, const std::string& message);

inline std::string text(const std::string& value) { return value; }
inline std::string text(const char* value) { return value; }
inline std::string text(int value) { return std::to_string(value); }
inline std::string text(size_t value) { return std::to_string(value); }
inline std::string text(int64_t value) { return std::to_string(value); }
std::string text(const Shape& value);
std::string text(const Strides& value);
std::string text(Dtype value);

// Concatenates the texts of all parts.
template <typename... Parts>
std::string message(const Parts&... parts) {
  std::string out;
  (out.append(text(parts)), ...);
  return out;
}

}  // namespace mlx::core
