// The text of arrays.
#include <sstream>
#include <string>

#include "array/dtype.h"
#include "convert/convert.h"
#include "mlx/dtype_utils.h"
#include "mlx/utils.h"

namespace {

// Axes longer than twice this show only their ends.
constexpr int kEdge = 3;

template <typename T>
void print_axis(std::ostream& os, const mx::array& a, const T* data, size_t axis,
                const std::string& indent) {
  if (axis == a.ndim()) return mx::print_element(os, *data);
  int extent = a.shape()[axis];
  bool innermost = axis + 1 == a.ndim();
  std::string separator = innermost ? ", " : ",\n" + indent + std::string(axis + 1, ' ');
  os << "[";
  for (int i = 0; i < extent; ++i) {
    if (i > 0) os << separator;
    if (extent > 2 * kEdge && i == kEdge) {
      os << "..." << separator;
      i = extent - kEdge;
    }
    print_axis(os, a, data + i * a.strides()[axis], axis + 1, indent);
  }
  os << "]";
}

}  // namespace

std::string to_text(mx::array a) {
  ensure_available(a);
  std::ostringstream os;
  os << "array(";
  mx::dispatch_all_types(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    T none{};
    print_axis<T>(os, a, a.size() ? static_cast<const T*>(a.data<T>()) : &none, 0, "      ");
  });
  os << ", dtype=" << dtype_name(a.dtype()) << ")";
  return os.str();
}
