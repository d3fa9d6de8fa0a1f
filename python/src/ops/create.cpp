// Operations that make arrays.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "convert/convert.h"
#include "convert/optional_int.h"
#include "mlx/ops/creation.h"
#include "mlx/ops/unary.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kArangeDoc =
    R"(arange(start: int | float, stop: int | float, step: int | float | None = None, dtype: Dtype | None = None, *, stream: StreamOrDevice = None) -> array
arange(stop: int | float, step: int | float | None = None, dtype: Dtype | None = None, *, stream: StreamOrDevice = None) -> array

Makes evenly spaced values in the half-open interval [start, stop).

Args:
    start: The first value. 0 if only `stop` is given.
    stop: The end, which is not included.
    step: The distance of neighbours; it may be negative. None means 1.
    dtype: The type of the values. None means int32 for integers (int64 beyond its range), else float32.

Returns:
    The values, of shape (ceil((stop - start) / step),).

Example:
    >>> mx.arange(4)
    array([0, 1, 2, 3], dtype=int32)
    >>> mx.arange(1, 2, 0.25)
    array([1, 1.25, 1.5, 1.75], dtype=float32))";

const char* const kLinspaceDoc =
    R"(linspace(start: int | float, stop: int | float, num: int | None = 50, endpoint: bool = True, dtype: Dtype | None = None, stream: StreamOrDevice = None) -> array

Makes `num` evenly spaced values from `start` to `stop`.

Args:
    start: The first value.
    stop: The last value.
    num: The number of values. None means 50.
    endpoint: Whether `stop` is included.
    dtype: The type of the values. None means float32.

Returns:
    The values, of shape (num,).

Example:
    >>> mx.linspace(0, 1, 5)
    array([0, 0.25, 0.5, 0.75, 1], dtype=float32))";

const char* const kFullDoc = R"(Makes an array that is filled with a value.

Args:
    shape: The shape of the result; an int n means (n,).
    vals: The value, or an array that is broadcast to the shape.
    dtype: The type of the elements. None means that of `vals`.

Returns:
    The array, of shape `shape`.

Example:
    >>> mx.full((2, 2), 7)
    array([[7, 7],
           [7, 7]], dtype=int32))";

const char* const kFullLikeDoc = R"(Makes an array of the shape of `a` that is filled with a value.

Args:
    a: The array whose shape and type the result has.
    vals: The value, or an array that is broadcast to the shape.
    dtype: The type of the elements. None means that of `a`.

Returns:
    The array, of the shape of `a`.)";

const char* const kZerosDoc = R"(Makes an array of zeros.

Args:
    shape: The shape of the result; an int n means (n,).
    dtype: The type of the elements. None means float32.

Returns:
    The zeros, of shape `shape`.

Example:
    >>> mx.zeros((2, 3)).shape
    (2, 3))";

const char* const kOnesDoc = R"(Makes an array of ones.

Args:
    shape: The shape of the result; an int n means (n,).
    dtype: The type of the elements. None means float32.

Returns:
    The ones, of shape `shape`.)";

// `what` is "zeros" or "ones".
std::string like_doc(const std::string& what) {
  return "Makes an array of " + what + R"( with the shape of another array.

Args:
    a: The array whose shape and type the result has.
    dtype: The type of the elements. None means that of `a`.

Returns:
    The )" +
         what + ", of the shape of `a`.";
}

const char* const kEyeDoc = R"(Makes a matrix with ones on a diagonal and zeros elsewhere.

Args:
    n: The number of rows.
    m: The number of columns. None means `n`.
    k: The diagonal: 0 is the main one, positive ones are above it, negative ones below.
    dtype: The type of the elements. None means float32.

Returns:
    The matrix, of shape (n, m).

Example:
    >>> mx.eye(2, 3, k=1, dtype=mx.int32)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=int32))";

const char* const kIdentityDoc = R"(Makes the identity matrix.

Args:
    n: The number of rows and columns.
    dtype: The type of the elements. None means float32.

Returns:
    The matrix, of shape (n, n).)";

const char* const kTriDoc = R"(Makes a matrix with ones at and below a diagonal and zeros above.

Args:
    n: The number of rows.
    m: The number of columns. None means `n`.
    k: The diagonal: 0 is the main one, positive ones are above it, negative ones below.
    dtype: The type of the elements. None means float32.

Returns:
    The matrix, of shape (n, m).)";

const char* const kTrilDoc = R"(Puts zeros above a diagonal of each matrix.

Args:
    x: The matrices, of shape (..., n, m).
    k: The diagonal: 0 is the main one, positive ones are above it, negative ones below.

Returns:
    The matrices, of the shape of `x`.

Example:
    >>> mx.tril(mx.ones((2, 2), mx.int32))
    array([[1, 0],
           [1, 1]], dtype=int32))";

const char* const kTriuDoc = R"(Puts zeros below a diagonal of each matrix.

Args:
    x: The matrices, of shape (..., n, m).
    k: The diagonal: 0 is the main one, positive ones are above it, negative ones below.

Returns:
    The matrices, of the shape of `x`.)";

const char* const kWindowDoc = R"(

Args:
    M: The number of values.

Returns:
    The window, of shape (M,) and type float32.)";

const char* const kAsarrayDoc =
    R"(asarray(a: scalar | array | Sequence[Any] | DLPackCompatible, dtype: Dtype | None = None, *, copy: bool | None = None) -> array

Converts an object to an array. An array of the right type is returned as it is.

Args:
    a: A number, nested lists of numbers, an array, or an array of another library.
    dtype: The type of the elements. None means the type that follows from `a`.
    copy: True always copies. False never copies. None copies if that is necessary.

Returns:
    The array.

Raises:
    ValueError: If `copy` is False and a copy is necessary.)";

const char* const kFromDlpackDoc =
    R"(from_dlpack(x: DLPackCompatible, /, *, copy: bool | None = None) -> array

Makes an array from an object that has `__dlpack__`, such as an array of NumPy or PyTorch.

Args:
    x: The object. Its memory must be readable by the host.
    copy: Whether to copy. The values of other libraries are always copied, so False is an error.

Returns:
    An array with the shape, the type and the values of `x`.

Example:
    >>> import numpy
    >>> mx.from_dlpack(numpy.arange(3, dtype="int32"))
    array([0, 1, 2], dtype=int32))";

double number(py::handle h) {
  double v = PyFloat_AsDouble(h.ptr());
  if (v == -1.0 && PyErr_Occurred()) throw py::error_already_set();
  return v;
}

bool is_integer(py::handle h) {
  if (!is_array(h)) return PyIndex_Check(h.ptr());
  return mx::issubdtype(h.cast<const mx::array&>().dtype(), mx::integer);
}

// Integers give int32 (int64 beyond its range), anything else float32.
mx::Dtype range_type(std::initializer_list<py::handle> bounds) {
  bool wide = false;
  for (py::handle h : bounds) {
    if (PyBool_Check(h.ptr())) throw std::invalid_argument("[arange] Bounds must not be bool.");
    if (!is_integer(h)) return mx::float32;
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
  m.def(
      "arange",
      [](py::object start, py::object stop, py::object step, const mx::Dtype* dtype, StreamArg s) {
        return arange(std::move(start), std::move(stop), std::move(step), dtype, s);
      },
      "start"_a, "stop"_a, "step"_a = py::none(), "dtype"_a = py::none(), STREAM_KEYWORD,
      kArangeDoc);
  m.def(
      "arange",
      [](py::object stop, py::object step, const mx::Dtype* dtype, StreamArg s) {
        return arange(py::int_(0), std::move(stop), std::move(step), dtype, s);
      },
      "stop"_a, "step"_a = py::none(), "dtype"_a = py::none(), STREAM_KEYWORD);
  m.def(
      "linspace",
      [](const py::object& start, const py::object& stop, const OptionalInt& num, bool endpoint,
         const mx::Dtype* dtype, StreamArg s) {
        int count = num.value.value_or(50);
        return mx::linspace(number(start), number(stop), count, endpoint,
                            type_or(dtype, mx::float32), s);
      },
      "start"_a, "stop"_a, "num"_a = 50, "endpoint"_a = true, "dtype"_a = py::none(),
      "stream"_a = py::none(), kLinspaceDoc);
}

void define_fills(py::module_& m) {
  m.def(
      "full",
      [](const Ints& shape, const ArrayLike& vals, const mx::Dtype* dtype, StreamArg s) {
        mx::array value = dtype ? to_array(vals, *dtype) : to_array(vals);
        return mx::full(to_shape(shape, "[full] shape"), value, type_or(dtype, value.dtype()), s);
      },
      "shape"_a, "vals"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kFullDoc);
  m.def(
      "full_like",
      [](const mx::array& a, const ArrayLike& vals, const mx::Dtype* dtype, StreamArg s) {
        mx::Dtype type = type_or(dtype, a.dtype());
        return mx::full_like(a, to_array(vals, type), type, s);
      },
      "a"_a, "vals"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kFullLikeDoc);
  m.def(
      "zeros",
      [](const Ints& shape, const mx::Dtype* dtype, StreamArg s) {
        return mx::zeros(to_shape(shape, "[zeros] shape"), type_or(dtype, mx::float32), s);
      },
      "shape"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kZerosDoc);
  m.def(
      "ones",
      [](const Ints& shape, const mx::Dtype* dtype, StreamArg s) {
        return mx::ones(to_shape(shape, "[ones] shape"), type_or(dtype, mx::float32), s);
      },
      "shape"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kOnesDoc);
  m.def(
      "zeros_like",
      [](const mx::array& a, const mx::Dtype* dtype, StreamArg s) {
        const mx::Dtype type = type_or(dtype, a.dtype());
        return mx::full_like(a, mx::array(0, type), type, s);
      },
      "a"_a, py::pos_only(), "dtype"_a = py::none(), STREAM_KEYWORD, like_doc("zeros").c_str());
  m.def(
      "ones_like",
      [](const mx::array& a, const mx::Dtype* dtype, StreamArg s) {
        const mx::Dtype type = type_or(dtype, a.dtype());
        return mx::full_like(a, mx::array(1, type), type, s);
      },
      "a"_a, py::pos_only(), "dtype"_a = py::none(), STREAM_KEYWORD, like_doc("ones").c_str());
}

using Window = mx::array (*)(int, mx::StreamOrDevice);

void define_window(py::module_& m, const char* name, Window window, const char* doc) {
  m.def(
      name, [window](int M, StreamArg s) { return window(M, s); }, "M"_a, STREAM_KEYWORD,
      (std::string(doc) + kWindowDoc).c_str());
}

void define_matrices(py::module_& m) {
  m.def(
      "eye",
      [](int n, const OptionalInt& columns, int k, const mx::Dtype* dtype, StreamArg s) {
        return mx::eye(n, columns.value.value_or(n), k, type_or(dtype, mx::float32), s);
      },
      "n"_a, "m"_a = py::none(), "k"_a = 0, "dtype"_a = py::none(), STREAM_KEYWORD, kEyeDoc);
  m.def(
      "identity",
      [](int n, const mx::Dtype* dtype, StreamArg s) {
        return mx::identity(n, type_or(dtype, mx::float32), s);
      },
      "n"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kIdentityDoc);
  m.def(
      "tri",
      [](int n, const OptionalInt& columns, int k, const mx::Dtype* dtype, StreamArg s) {
        return mx::tri(n, columns.value.value_or(n), k, type_or(dtype, mx::float32), s);
      },
      "n"_a, "m"_a = py::none(), "k"_a = 0, "dtype"_a = py::none(), STREAM_KEYWORD, kTriDoc);
  m.def(
      "tril", [](const mx::array& x, int k, StreamArg s) { return mx::tril(x, k, s); }, "x"_a,
      "k"_a = 0, STREAM_KEYWORD, kTrilDoc);
  m.def(
      "triu", [](const mx::array& x, int k, StreamArg s) { return mx::triu(x, k, s); }, "x"_a,
      "k"_a = 0, STREAM_KEYWORD, kTriuDoc);
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
        kAsarrayDoc);
  m.def(
      "from_dlpack",
      [](const py::object& x, const py::object& copy) {
        if (is_array(x)) return asarray(x, nullptr, copy);
        if (!copy.is_none() && !to_bool(copy)) {
          throw std::invalid_argument(
              "[from_dlpack] Tensors of other libraries are copied; copy=False cannot be met.");
        }
        return py::cast(with_default_dtype(array_from_dlpack(x), std::nullopt));
      },
      "x"_a, py::pos_only(), py::kw_only(), "copy"_a = py::none(), kFromDlpackDoc);
}
