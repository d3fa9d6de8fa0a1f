// Operations that make arrays.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "convert.h"
#include "mlx/ops/creation.h"
#include "mlx/ops/unary.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

mx::Dtype type_or(const mx::Dtype* dtype, mx::Dtype fallback) { return dtype ? *dtype : fallback; }

double number(py::handle h) {
  double v = PyFloat_AsDouble(h.ptr());
  if (v == -1.0 && PyErr_Occurred()) throw py::error_already_set();
  return v;
}

// Integers give int32 (int64 beyond its range), anything else float32.
mx::Dtype range_type(std::initializer_list<py::handle> bounds) {
  bool wide = false;
  for (py::handle h : bounds) {
    if (!PyIndex_Check(h.ptr())) return mx::float32;
    wide |= std::abs(number(h)) > std::numeric_limits<int32_t>::max();
  }
  return wide ? mx::int64 : mx::int32;
}

mx::array arange(py::object start, py::object stop, py::object step, const mx::Dtype* dtype,
                 mx::StreamOrDevice s) {
  if (stop.is_none()) std::swap(start, stop);
  if (start.is_none()) start = py::int_(0);
  if (step.is_none()) step = py::int_(1);
  mx::Dtype type = type_or(dtype, range_type({start, stop, step}));
  return mx::arange(number(start), number(stop), number(step), type, s);
}

void define_ranges(py::module_& m) {
  const char* doc = "Evenly spaced values in [start, stop).";
  m.def(
      "arange",
      [](py::object start, py::object stop, py::object step, const mx::Dtype* dtype, StreamArg s) {
        return arange(std::move(start), std::move(stop), std::move(step), dtype, s);
      },
      "start"_a, "stop"_a, "step"_a = py::none(), "dtype"_a = py::none(), STREAM_KEYWORD, doc);
  m.def(
      "arange",
      [](py::object stop, py::object step, const mx::Dtype* dtype, StreamArg s) {
        return arange(py::int_(0), std::move(stop), std::move(step), dtype, s);
      },
      "stop"_a, "step"_a = py::none(), "dtype"_a = py::none(), STREAM_KEYWORD, doc);
  m.def(
      "linspace",
      [](const py::object& start, const py::object& stop, const OptionalInt& num, bool endpoint,
         const mx::Dtype* dtype, StreamArg s) {
        int count = num.value.value_or(50);
        return mx::linspace(number(start), number(stop), count, endpoint,
                            type_or(dtype, mx::float32), s);
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "dtype"_a = py::none(),
      "stream"_a = py::none(),
      "`num` evenly spaced values from start to stop, the latter included if `endpoint`.");
}

void define_fills(py::module_& m) {
  m.def(
      "full",
      [](const Ints& shape, const ArrayLike& vals, const mx::Dtype* dtype, StreamArg s) {
        mx::array value = dtype ? to_array(vals, *dtype) : to_array(vals);
        return mx::full(to_shape(shape, "[full] shape"), value, type_or(dtype, value.dtype()), s);
      },
      "shape"_a, "vals"_a, "dtype"_a = py::none(), STREAM_KEYWORD,
      "An array of one value, or of values broadcast to the shape.");
  m.def(
      "full_like",
      [](const mx::array& a, const ArrayLike& vals, const mx::Dtype* dtype, StreamArg s) {
        mx::Dtype type = type_or(dtype, a.dtype());
        return mx::full_like(a, to_array(vals, type), type, s);
      },
      "a"_a, "vals"_a, "dtype"_a = py::none(), STREAM_KEYWORD,
      "An array of one value with the shape and type of another.");
  m.def(
      "zeros",
      [](const Ints& shape, const mx::Dtype* dtype, StreamArg s) {
        return mx::zeros(to_shape(shape, "[zeros] shape"), type_or(dtype, mx::float32), s);
      },
      "shape"_a, "dtype"_a = py::none(), STREAM_KEYWORD, "An array of zeros (float32 by default).");
  m.def(
      "ones",
      [](const Ints& shape, const mx::Dtype* dtype, StreamArg s) {
        return mx::ones(to_shape(shape, "[ones] shape"), type_or(dtype, mx::float32), s);
      },
      "shape"_a, "dtype"_a = py::none(), STREAM_KEYWORD, "An array of ones (float32 by default).");
  m.def(
      "zeros_like",
      [](const mx::array& a, const mx::Dtype* dtype, StreamArg s) {
        return mx::zeros(a.shape(), type_or(dtype, a.dtype()), s);
      },
      "a"_a, py::pos_only(), "dtype"_a = py::none(), STREAM_KEYWORD,
      "Zeros with the shape and type of another array.");
  m.def(
      "ones_like",
      [](const mx::array& a, const mx::Dtype* dtype, StreamArg s) {
        return mx::ones(a.shape(), type_or(dtype, a.dtype()), s);
      },
      "a"_a, py::pos_only(), "dtype"_a = py::none(), STREAM_KEYWORD,
      "Ones with the shape and type of another array.");
}

using Window = mx::array (*)(int, mx::StreamOrDevice);

void define_window(py::module_& m, const char* name, Window window, const char* doc) {
  m.def(name, [window](int M, StreamArg s) { return window(M, s); }, "M"_a, STREAM_KEYWORD, doc);
}

void define_matrices(py::module_& m) {
  m.def(
      "eye",
      [](int n, const OptionalInt& columns, int k, const mx::Dtype* dtype, StreamArg s) {
        return mx::eye(n, columns.value.value_or(n), k, type_or(dtype, mx::float32), s);
      },
      "n"_a, "m"_a = py::none(), "k"_a = 0, "dtype"_a = py::none(), STREAM_KEYWORD,
      "A matrix with ones on its k-th diagonal and zeros elsewhere.");
  m.def(
      "identity",
      [](int n, const mx::Dtype* dtype, StreamArg s) {
        return mx::identity(n, type_or(dtype, mx::float32), s);
      },
      "n"_a, "dtype"_a = py::none(), STREAM_KEYWORD, "The identity matrix.");
  m.def(
      "tri",
      [](int n, const OptionalInt& columns, int k, const mx::Dtype* dtype, StreamArg s) {
        return mx::tri(n, columns.value.value_or(n), k, type_or(dtype, mx::float32), s);
      },
      "n"_a, "m"_a = py::none(), "k"_a = 0, "dtype"_a = py::none(), STREAM_KEYWORD,
      "Ones at and below the k-th diagonal, zeros above.");
  m.def(
      "tril", [](const mx::array& x, int k, StreamArg s) { return mx::tril(x, k, s); }, "x"_a,
      "k"_a = 0, STREAM_KEYWORD, "The array with zeros above the k-th diagonal.");
  m.def(
      "triu", [](const mx::array& x, int k, StreamArg s) { return mx::triu(x, k, s); }, "x"_a,
      "k"_a = 0, STREAM_KEYWORD, "The array with zeros below the k-th diagonal.");
  define_window(m, "bartlett", &mx::bartlett, "The Bartlett window: a triangle.");
  define_window(m, "hanning", &mx::hanning, "The Hann window.");
  define_window(m, "hamming", &mx::hamming, "The Hamming window.");
  define_window(m, "blackman", &mx::blackman, "The Blackman window.");
}

py::object asarray(const py::object& a, const mx::Dtype* dtype, const py::object& copy) {
  bool must_copy = !copy.is_none() && to_bool(copy);
  bool must_share = !copy.is_none() && !to_bool(copy);
  bool shares = is_array(a) && (!dtype || a.cast<const mx::array&>().dtype() == *dtype);
  if (shares && !must_copy) return a;
  if (must_share)
    throw std::invalid_argument("[asarray] This object cannot become an array without a copy.");
  auto type = dtype ? std::optional<mx::Dtype>(*dtype) : std::nullopt;
  mx::array result = array_from_object(a, type);
  return py::cast(shares ? mx::copy(result) : result);
}

}  // namespace

void init_ops_create(py::module_& m, ArrayClass&) {
  define_ranges(m);
  define_fills(m);
  define_matrices(m);
  m.def("asarray", &asarray, "a"_a, "dtype"_a = py::none(), py::kw_only(), "copy"_a = py::none(),
        "Converts to an array; an array of the right type comes back as it is unless `copy` is "
        "true.");
  m.def(
      "from_dlpack",
      [](const py::object& x, const py::object& copy) {
        if (is_array(x)) return asarray(x, nullptr, copy);
        if (!copy.is_none() && !to_bool(copy)) {
          throw std::invalid_argument(
              "[from_dlpack] Tensors of other libraries are copied; copy=False cannot be met.");
        }
        return py::cast(array_from_dlpack(x));
      },
      "x"_a, py::pos_only(), py::kw_only(), "copy"_a = py::none(),
      "An array with the values of an object that has __dlpack__.");
}
