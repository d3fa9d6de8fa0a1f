// The messages of operations that reject their arguments.
#include "mlx/errors.h"

#include <limits>
#include <stdexcept>

namespace mlx::core {

void invalid_argument(const std::string& op, const std::string& message) {
  throw std::invalid_argument("[" + op + "] " + message);
}

ShapeElem checked_extent(int64_t extent, const std::string& op) {
  constexpr int64_t kMax = std::numeric_limits<ShapeElem>::max();
  if (extent > kMax) {
    invalid_argument(op, message("An axis of ", extent, " elements is too long: at most ", kMax,
                                 " are possible."));
  }
  return static_cast<ShapeElem>(extent);
}

int64_t saturated_product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
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
