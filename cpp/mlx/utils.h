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

// What operations take to choose where they run: nothing (the default device's stream), a stream,
// or a device.
using StreamOrDevice = std::variant<std::monostate, Stream, Device>;

Stream to_stream(StreamOrDevice s);
Stream to_stream(StreamOrDevice s, Device default_device);

// Makes a stream or device the default until the end of the scope.
struct StreamContext {
  explicit StreamContext(StreamOrDevice s);
  ~StreamContext();
  StreamContext(const StreamContext&) = delete;
  StreamContext& operator=(const StreamContext&) = delete;

 private:
  Stream stream_;  // what was the default outside
  Stream inner_;   // what was the default of the device inside
};

struct PrintFormatter {
  std::string true_text = "True";
  std::string false_text = "False";
};
PrintFormatter& get_global_formatter();

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

// The type that results of operations on these arrays have.
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

// `axis` counted from 0; throws if it is out of range. `op` names the operation in the message.
int normalize_axis_index(int axis, int ndim, const std::string& op = "normalize_axis_index");
// Sorted, each once; all axes for nullopt is the caller's business.
std::vector<int> normalize_axes(const std::vector<int>& axes, int ndim, const std::string& op);

// C-style strides.
Strides row_contiguous_strides(const Shape& shape);

bool is_same_shape(const std::vector<array>& arrays);

}  // namespace mlx::core

// Shapes and strides are vectors of the standard library: from other namespaces their operator is
// found here.
using mlx::core::operator<<;
