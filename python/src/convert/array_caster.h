// Arrays as arguments and results of bindings. Nearly all functions have them: what pybind11
// searches its tables for at each conversion is known here.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

inline const py::detail::type_info* array_type_info() {
  static const auto* const info = py::detail::get_type_info(typeid(mx::array));
  return info;
}

inline PyTypeObject* array_class() { return array_type_info()->type; }

// The value of an object of the class itself; null for other objects, for those of classes that
// inherit from it, and for one that was never initialised.
inline mx::array* exact_array(py::handle h) {
  if (Py_TYPE(h.ptr()) != array_class()) return nullptr;
  return static_cast<mx::array*>(
      reinterpret_cast<py::detail::instance*>(h.ptr())->simple_value_holder[0]);
}

// A new object that has the value.
py::object array_object(mx::array value);

namespace pybind11::detail {

template <>
class type_caster<mx::array> : public type_caster_generic {
 public:
  static constexpr auto name = const_name<mx::array>();
  template <typename T>
  using cast_op_type = detail::cast_op_type<T>;

  type_caster() : type_caster_generic(array_type_info()) {}

  bool load(handle source, bool convert) {
    value = source ? exact_array(source) : nullptr;
    return value || type_caster_generic::load(source, convert);
  }

  operator mx::array*() { return static_cast<mx::array*>(value); }
  operator mx::array&() {
    if (!value) throw reference_cast_error();
    return *static_cast<mx::array*>(value);
  }

  static handle cast(mx::array result, return_value_policy, handle) {
    return array_object(std::move(result)).release();
  }
};

}  // namespace pybind11::detail
