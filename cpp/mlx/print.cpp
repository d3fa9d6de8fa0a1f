// Printing of devices, streams, types and arrays.
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "mlx/dtype_utils.h"
#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/utils.h"
#include "mlx/version.h"

namespace mlx::core {

const char* version() {
  static const auto& text = *new std::string(message(MLX_VERSION_MAJOR, ".", MLX_VERSION_MINOR, ".",
                                                     MLX_VERSION_PATCH));  // never destroyed
  return text.c_str();
}

PrintFormatter& get_global_formatter() {
  static auto& formatter = *new PrintFormatter();  // never destroyed
  return formatter;
}

PrintOptions get_printoptions() { return get_global_formatter().format_options; }

void set_printoptions(PrintOptions options) {
  if (options.precision < -1) {
    invalid_argument("set_printoptions", message("precision must be at least 0, or -1 for the "
                                                 "default, but is ",
                                                 options.precision, "."));
  }
  get_global_formatter().format_options = options;
}

void PrintFormatter::print(std::ostream& os, bool value) const {
  const char* const texts[] = {"false", "true", "False", "True"};
  os << texts[2 * capitalize_bool + value];
}

void PrintFormatter::print(std::ostream& os, int64_t value) const { os << value; }

void PrintFormatter::print(std::ostream& os, uint64_t value) const { os << value; }

void PrintFormatter::print(std::ostream& os, double value) const {
  if (std::isnan(value)) {
    os << "nan";
    return;
  }
  std::ostringstream digits;  // does not change the state of `os`
  if (format_options.precision >= 0) {
    digits << std::fixed << std::setprecision(format_options.precision);
  }
  digits << value;
  os << digits.str();
}

void PrintFormatter::print(std::ostream& os, complex64_t value) const {
  print(os, static_cast<double>(value.real()));
  const bool negative = std::signbit(value.imag()) && !std::isnan(value.imag());
  os << (negative ? "-" : "+");
  print(os, static_cast<double>(std::abs(value.imag())));
  os << "j";
}

std::string shape_to_string(const Shape& shape) { return text(shape); }

std::ostream& operator<<(std::ostream& os, const Device& d) {
  return os << "Device(" << (d.type == Device::cpu ? "cpu" : "gpu") << ", " << d.index << ")";
}

std::ostream& operator<<(std::ostream& os, const Stream& s) {
  return os << "Stream(" << s.device << ", " << s.index << ")";
}

std::ostream& operator<<(std::ostream& os, const Dtype& d) { return os << dtype_to_string(d); }

std::ostream& operator<<(std::ostream& os, const Dtype::Kind& k) {
  return os << "buifcV"[static_cast<int>(k)];
}

std::ostream& operator<<(std::ostream& os, float16_t v) { return os << static_cast<float>(v); }

std::ostream& operator<<(std::ostream& os, bfloat16_t v) { return os << static_cast<float>(v); }

std::ostream& operator<<(std::ostream& os, const Shape& v) { return os << text(v); }

std::ostream& operator<<(std::ostream& os, const Strides& v) { return os << text(v); }

namespace {

constexpr int kEdgeItems = 3;          // shown at each end of a long axis
constexpr size_t kSummarizeAt = 1000;  // elements from which long axes are shortened

template <typename T>
std::string element_text(const T& value) {
  std::ostringstream os;
  print_element(os, value);
  return os.str();
}

// Prints the part of a row-contiguous array that starts at `data` and spans the axes from `dim` on.
template <typename T>
struct Printer {
  std::ostream& os;
  const array& a;
  bool summarize;
  size_t width = 0;

  void measure(const T* data, size_t dim) {
    visit(
        data, dim,
        [this](const T* d, size_t next) {
          if (next == a.ndim()) {
            width = std::max(width, element_text(*d).size());
          } else {
            measure(d, next);
          }
        },
        [] {});
  }

  void print(const T* data, size_t dim, int indent) {
    if (dim == a.ndim()) {
      os << std::setw(static_cast<int>(width)) << element_text(*data);
      return;
    }
    os << "[";
    bool last_axis = dim + 1 == a.ndim();
    bool first = true;
    auto separate = [&] {
      if (!first) {
        os << (last_axis ? ", " : ",\n" + std::string(indent + 1, ' '));
      }
      first = false;
    };
    visit(
        data, dim,
        [&](const T* d, size_t next) {
          separate();
          print(d, next, indent + 1);
        },
        [&] {
          separate();
          os << "...";
        });
    os << "]";
  }

  template <typename F, typename G>
  void visit(const T* data, size_t dim, F f, G skipped) {
    int n = a.shape(dim);
    bool shorten = summarize && n > 2 * kEdgeItems;
    for (int i = 0; i < n; ++i) {
      if (shorten && i == kEdgeItems) {
        skipped();
        i = n - kEdgeItems;
      }
      f(data + i * a.strides(dim), dim + 1);
    }
  }
};

template <typename T>
void print_array(std::ostream& os, const array& a) {
  Printer<T> printer{os, a, a.size() > kSummarizeAt};
  if (a.size() > 0 && a.ndim() > 0) {
    printer.measure(a.data<T>(), 0);
  }
  os << "array(";
  if (a.size() == 0) {
    os << "[]";
  } else {
    printer.print(a.data<T>(), 0, 6);
  }
  os << ", dtype=" << a.dtype() << ")";
}

}  // namespace

std::ostream& operator<<(std::ostream& os, array a) {
  a.eval();
  if (!a.flags().row_contiguous) {
    a = contiguous(a, false, Device(Device::cpu));
    a.eval();
  }
  dispatch_all_types(a.dtype(), [&](auto type) { print_array<MLX_GET_TYPE(type)>(os, a); });
  return os;
}

}  // namespace mlx::core
