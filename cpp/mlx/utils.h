// Small helpers on streams, shapes and types, and printing.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mlx/array.h"
#include "mlx/device.h"
#include "mlx/dtype.h"
#include "mlx/stream.h"

namespace mlx::core {

// Where an operation runs: nothing (the default device's stream), a stream, a device, or a handle
// of this thread's stream.
using StreamOrDevice = std::variant<std::monostate, Stream, Device, ThreadLocalStream>;

Stream to_stream(StreamOrDevice s);
Stream to_stream(StreamOrDevice s, Device default_device);

// Makes a stream or device the default until the end of the scope.
struct StreamContext {
  explicit StreamContext(StreamOrDevice s);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

 private:
  Stream stream_;  // the default before
  Stream inner_;   // the default stream of the device before
};

struct PrintOptions {
  int precision = -1;  // decimal places; -1: six significant digits without zeros at the end
};
PrintOptions get_printoptions();
void set_printoptions(PrintOptions options);

// The text of elements.
struct PrintFormatter {
  bool capitalize_bool = false;  // "True", as in Python, instead of "true"
  PrintOptions format_options;

  void print(std::ostream& os, bool value) const;
  void print(std::ostream& os, int64_t value) const;
  void print(std::ostream& os, uint64_t value) const;
  void print(std::ostream& os, double value) const;
  void print(std::ostream& os, complex64_t value) const;
};
PrintFormatter& get_global_formatter();

// An element of any type.
template <typename T>
void print_element(std::ostream& os, T value) {
  const auto& formatter = get_global_formatter();
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, complex64_t> ||
                std::is_same_v<T, double>) {
    formatter.print(os, value);
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    formatter.print(os, static_cast<Wide>(value));
  } else {
    formatter.print(os, static_cast<double>(static_cast<float>(value)));
  }
}

std::ostream& operator<<(std::ostream& os, const Device& d);
std::ostream& operator<<(std::ostream& os, const Stream& s);
std::ostream& operator<<(std::ostream& os, const Dtype& d);
std::ostream& operator<<(std::ostream& os, const Dtype::Kind& k);
std::ostream& operator<<(std::ostream& os, array a);
std::ostream& operator<<(std::ostream& os, float16_t v);
std::ostream& operator<<(std::ostream& os, bfloat16_t v);
std::ostream& operator<<(std::ostream& os, const Shape& v);
std::ostream& operator<<(std::ostream& os, const Strides& v);

// "(2,3)"
std::string shape_to_string(const Shape& shape);

// The promoted type of the arrays.
Dtype result_type(const std::vector<array>& arrays);
inline Dtype result_type(const array& a, const array& b) {
  return promote_types(a.dtype(), b.dtype());
}
inline Dtype result_type(const array& a, const array& b, const array& c) {
  return promote_types(result_type(a, b), c.dtype());
}
bool can_cast(const Dtype& from, const Dtype& to);

// The shape that both broadcast to.
Shape broadcast_shapes(const Shape& s1, const Shape& s2);

// Returns `axis` counted from 0; throws if it is out of range. `op` names the operation in the
// message.
int normalize_axis_index(int axis, int ndim, const std::string& op = "normalize_axis_index");
// Sorts the axes; throws for repeated axes or axes out of range.
std::vector<int> normalize_axes(const std::vector<int>& axes, int ndim, const std::string& op);

// Row-major strides.
Strides row_contiguous_strides(const Shape& shape);

bool is_same_shape(const std::vector<array>& arrays);

}  // namespace mlx::core

// Shapes and strides are vectors of the standard library, so argument-dependent lookup does not
// find this operator from other namespaces.
using mlx::core::operator<<;
