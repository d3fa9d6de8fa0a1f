// Argument types that the bindings share, each with its conversion from Python.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "convert/array_caster.h"
#include "mlx/array.h"
#include "mlx/utils.h"

namespace py = pybind11;
namespace mx = mlx::core;

// None | Stream | ThreadLocalStream | Device | DeviceType
struct StreamArg {
  mx::StreamOrDevice value;
  operator mx::StreamOrDevice() const { return value; }
};

// scalar | array, including NumPy arrays and scalars. The dtype of a scalar depends on the other
// operand.
struct ArrayLike {
  py::object value;
};

// None | int | Sequence[int]
struct Axes {
  std::optional<std::vector<int>> value;
};

// int | Sequence[int]
struct Ints {
  std::vector<int64_t> value;
  bool is_scalar = false;
};

// The value of an argument `dtype=None`.
inline mx::Dtype type_or(const mx::Dtype* dtype, mx::Dtype fallback) {
  return dtype ? *dtype : fallback;
}

bool load_stream(py::handle source, mx::StreamOrDevice& out);
bool is_array_like(py::handle source);
// Whether arithmetic accepts the object, such as numbers of other classes.
bool is_operand(py::handle source);
// An object that is neither number nor array, where an operand is wanted.
struct OperandError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
// Whether a function takes the object as an operand: None is of a wrong type, and other objects,
// such as lists, raise an OperandError.
bool check_operand(py::handle source);
// Returns false if the source is not an integer or a sequence of integers.
bool load_ints(py::handle source, Ints& out);

// Converts to 32-bit integers; `argument`, such as "[zeros] shape", names them in the error if one
// does not fit.
std::vector<int> narrow(const Ints& ints, const char* argument);
// The same, but that error is an OverflowError, as in MLX.
mx::Shape to_shape(const Ints& ints, const char* argument);

// A scalar takes `dtype` if that can hold the scalar's kind: `a * 2.0` stays float16.
mx::array to_array(py::handle value, std::optional<mx::Dtype> dtype = std::nullopt);
inline mx::array to_array(const ArrayLike& v, std::optional<mx::Dtype> dtype = std::nullopt) {
  return to_array(v.value, dtype);
}
// Like `to_array`, for the other operand of an array with this type: NumPy's arrays and scalars
// take it too, whatever their own type is.
mx::array to_operand(py::handle value, mx::Dtype dtype);
// Converts two operands; a scalar takes the other one's type.
std::pair<mx::array, mx::array> to_arrays(const ArrayLike& a, const ArrayLike& b);

// Every operation asks this; pybind11's isinstance would search a table each time.
inline bool is_array(py::handle h) { return PyObject_TypeCheck(h.ptr(), array_class()); }

// The value of an object that is an array.
inline const mx::array& array_of(py::handle h) { return h.cast<const mx::array&>(); }

py::list to_list(const std::vector<mx::array>& arrays);
py::tuple to_tuple(const std::vector<mx::array>& arrays);
std::vector<mx::array> to_vector(py::handle arrays, const char* op);

template <typename Sequence>
py::tuple ints_to_tuple(const Sequence& values) {
  py::tuple result(values.size());
  for (size_t i = 0; i < static_cast<size_t>(values.size()); ++i) result[i] = py::int_(values[i]);
  return result;
}

namespace pybind11::detail {

template <>
struct type_caster<StreamArg> {
  PYBIND11_TYPE_CASTER(StreamArg, const_name("mlx.core.Stream | mlx.core.ThreadLocalStream | "
                                             "mlx.core.Device | mlx.core.DeviceType | None"));
  bool load(handle source, bool) { return load_stream(source, value.value); }
};

template <>
struct type_caster<ArrayLike> {
  PYBIND11_TYPE_CASTER(ArrayLike, const_name("bool | int | float | complex | mlx.core.array"));
  bool load(handle source, bool) {
    value.value = reinterpret_borrow<object>(source);
    return check_operand(source);
  }
};

template <>
struct type_caster<Ints> {
  PYBIND11_TYPE_CASTER(Ints, const_name("int | collections.abc.Sequence[int]"));
  bool load(handle source, bool) { return load_ints(source, value); }
};

template <>
struct type_caster<Axes> {
  PYBIND11_TYPE_CASTER(Axes, const_name("int | collections.abc.Sequence[int] | None"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    Ints ints;
    if (!load_ints(source, ints)) return false;
    value.value = narrow(ints, "axis");
    return true;
  }
};

}  // namespace pybind11::detail
