// Arrays from nested lists and tuples.
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "mlx/ops.h"

namespace {

// The kinds of Python numbers; each can represent the ones before.
enum class ElementKind { none, boolean, integer, real, complex };

bool is_sequence(PyObject* p) { return PyList_Check(p) || PyTuple_Check(p); }

// Collects the numbers of a nested list in a vector of the narrowest kind that holds them.
class Collector {
 public:
  // Returns false if the list contains arrays, which must be stacked instead.
  bool collect(const py::object& value) {
    measure(value.ptr());
    return visit(value.ptr(), 0);
  }

  mx::array make(std::optional<mx::Dtype> dtype) const {
    switch (kind_) {
      case ElementKind::none:
        return array_from_bytes(nullptr, shape_, dtype.value_or(mx::float32));
      case ElementKind::boolean:
        return mx::array(integers_.data(), shape_, dtype.value_or(mx::bool_));
      case ElementKind::integer:
        return make_integers(dtype);
      case ElementKind::real:
        return mx::array(reals_.data(), shape_, dtype.value_or(mx::float32));
      default:
        return make_complex(dtype);
    }
  }

 private:
  void measure(PyObject* p) {
    while (is_sequence(p)) {
      Py_ssize_t n = PySequence_Fast_GET_SIZE(p);
      shape_.push_back(shape_from_outside(&n, 1, "[array] The list")[0]);
      if (n == 0) break;
      p = PySequence_Fast_GET_ITEM(p, 0);
      if (shape_.size() > 64) throw std::invalid_argument("[array] Lists are nested too deeply.");
    }
  }

  bool visit(PyObject* p, size_t depth) {
    if (!is_sequence(p)) {
      if (add(p, depth)) return true;
      return false;
    }
    if (depth >= shape_.size() || PySequence_Fast_GET_SIZE(p) != shape_[depth]) {
      throw std::invalid_argument("Initialization encountered non-uniform length.");
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(p); ++i) {
      if (!visit(PySequence_Fast_GET_ITEM(p, i), depth + 1)) return false;
    }
    return true;
  }

  bool add(PyObject* p, size_t depth) {
    bool number = PyLong_Check(p) || PyFloat_Check(p) || PyComplex_Check(p);
    if (!number) {
      if (is_array_like(p)) return false;
      throw std::invalid_argument("Invalid type " + type_name(p) +
                                  " received in array initialization.");
    }
    if (depth != shape_.size())
      throw std::invalid_argument("Initialization encountered non-uniform length.");
    if (PyLong_Check(p)) {
      add_integer(p);
    } else if (PyFloat_Check(p)) {
      widen(ElementKind::real);
      add_real(PyFloat_AS_DOUBLE(p));
    } else {
      widen(ElementKind::complex);
      Py_complex c = PyComplex_AsCComplex(p);
      complexes_.emplace_back(c.real, c.imag);
    }
    return true;
  }

  void add_real(double value) {
    if (kind_ == ElementKind::real) {
      reals_.push_back(value);
    } else {
      complexes_.emplace_back(value, 0.0);
    }
  }

  void add_integer(PyObject* p) {
    widen(PyBool_Check(p) ? ElementKind::boolean : ElementKind::integer);
    if (kind_ >= ElementKind::real) {
      double real = PyLong_AsDouble(p);
      if (PyErr_Occurred()) refuse_large(p, "a double");
      return add_real(real);
    }
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(p, &overflow);
    if (overflow > 0) {
      v = static_cast<long long>(PyLong_AsUnsignedLongLong(p));
      beyond_int64_.push_back(integers_.size());
    }
    if (overflow < 0 || PyErr_Occurred()) refuse_large(p, "64 bits");
    has_negative_ |= overflow == 0 && v < 0;
    bool small =
        v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
    needs_64_bits_ |= !small;
    integers_.push_back(v);
  }

  // Moves the collected numbers to the vector of a wider kind.
  void widen(ElementKind kind) {
    if (kind <= kind_) return;
    if (kind == ElementKind::real) {
      reals_ = integers_as_doubles();
    } else if (kind == ElementKind::complex) {
      for (auto v : reals_) complexes_.emplace_back(v, 0.0);
      if (kind_ <= ElementKind::integer) {
        for (auto v : integers_as_doubles()) complexes_.emplace_back(v, 0.0);
      }
    }
    kind_ = kind;
  }

  [[noreturn]] static void refuse_large(PyObject* p, const char* type) {
    PyErr_Clear();
    throw std::invalid_argument("[array] The integer " +
                                py::str(py::handle(p)).cast<std::string>() + " does not fit into " +
                                type + ".");
  }

  std::vector<double> integers_as_doubles() const {
    std::vector<double> result(integers_.begin(), integers_.end());
    for (size_t i : beyond_int64_)
      result[i] = static_cast<double>(static_cast<uint64_t>(integers_[i]));
    return result;
  }

  mx::array make_integers(std::optional<mx::Dtype> dtype) const {
    if (!beyond_int64_.empty() && has_negative_) {
      if (!dtype || mx::issubdtype(*dtype, mx::integer)) {
        throw std::invalid_argument(
            "[array] No integer type holds both a negative integer and " +
            std::to_string(static_cast<uint64_t>(integers_[beyond_int64_[0]])) +
            "; give a floating-point dtype.");
      }
      return mx::array(integers_as_doubles().data(), shape_, *dtype);
    }
    if (!beyond_int64_.empty()) {
      auto* data = reinterpret_cast<const uint64_t*>(integers_.data());
      return mx::array(data, shape_, dtype.value_or(mx::uint64));
    }
    return mx::array(integers_.data(), shape_,
                     dtype.value_or(needs_64_bits_ ? mx::int64 : mx::int32));
  }

  mx::array make_complex(std::optional<mx::Dtype> dtype) const {
    std::vector<mx::complex64_t> values;
    values.reserve(complexes_.size());
    for (const auto& c : complexes_)
      values.emplace_back(static_cast<float>(c.real()), static_cast<float>(c.imag()));
    mx::array a(values.data(), shape_, mx::complex64);
    return dtype && *dtype != mx::complex64 ? mx::astype(a, *dtype) : a;
  }

  mx::Shape shape_;
  ElementKind kind_ = ElementKind::none;
  bool needs_64_bits_ = false;
  bool has_negative_ = false;
  std::vector<size_t> beyond_int64_;  // positions of numbers stored as uint64 bits
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
  std::vector<std::complex<double>> complexes_;
};

// Converts a list in which at least one leaf is an array: stacks the items, converted to one type.
mx::array stack_items(const py::object& value, std::optional<mx::Dtype> dtype) {
  std::vector<mx::array> items;
  for (py::handle item : value) {
    items.push_back(array_from_object(py::reinterpret_borrow<py::object>(item), dtype));
  }
  mx::Dtype type = items[0].dtype();
  for (const auto& a : items) {
    if (a.shape() != items[0].shape()) {
      throw std::invalid_argument("Initialization encountered non-uniform length.");
    }
    type = mx::promote_types(type, a.dtype());
  }
  for (auto& a : items) a = mx::astype(a, type);
  return mx::stack(items, 0);
}

}  // namespace

mx::array array_from_sequence(const py::object& value, std::optional<mx::Dtype> dtype) {
  Collector collector;
  if (!collector.collect(value)) return stack_items(value, dtype);
  return collector.make(dtype);
}
