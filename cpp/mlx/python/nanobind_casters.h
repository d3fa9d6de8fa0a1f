// For nanobind's bindings of extensions: functions can take and return arrays, streams, devices and
// element types. The target `mlx` of CMake includes this file first in every C++ source, so that
// bindings that were written for MLX compile as they are. Without nanobind the file is empty.
#pragma once

#if __has_include(<Python.h>) && __has_include(<nanobind/nanobind.h>)

#include <nanobind/nanobind.h>

#include <type_traits>
#include <typeinfo>

#include "mlx/array.h"
#include "mlx/device.h"
#include "mlx/dtype.h"
#include "mlx/python/object_table.h"
#include "mlx/stream.h"

namespace mlx::core::python {

// Imports mlx.core. Null, with a Python error set, if this module was built against another
// version.
inline const ObjectTable* find_object_table() {
  PyObject* core = PyImport_ImportModule("mlx.core");
  if (!core) return nullptr;
  PyObject* capsule = PyObject_GetAttrString(core, kObjectTableAttribute);
  void* table = capsule ? PyCapsule_GetPointer(capsule, kObjectTableName) : nullptr;
  if (!table) {
    PyErr_Format(PyExc_ImportError,
                 "This module was built against mlx-anywhere %s, but another version is installed. "
                 "Build the module again.",
                 MLX_ANYWHERE_VERSION);
  }
  Py_XDECREF(capsule);
  Py_DECREF(core);
  return static_cast<const ObjectTable*>(table);
}

inline const ObjectTable* object_table() {
  static const ObjectTable* found = nullptr;
  if (!found) found = find_object_table();
  return found;
}

// Converts objects of a class of mlx.core, as nanobind converts those of its own classes.
template <typename T>
class CoreCaster {
 public:
  using Type = T;
  template <typename U>
  using Cast = nanobind::detail::precise_cast_t<U>;

  template <typename Flags>
  bool from_python(nanobind::handle source, Flags flags, nanobind::detail::cleanup_list*) noexcept {
    value_ = nullptr;
    if (source.is_none()) return flags & Flags(nanobind::detail::cast_flags::accepts_none);
    const ObjectTable* table = object_table();
    fits_ = table != nullptr;
    if (!fits_) {
      // This function can only ask for another overload. Using the value raises the error.
      PyErr_Clear();
      return true;
    }
    value_ = static_cast<T*>(table->value_of(source.ptr(), typeid(T)));
    return value_ != nullptr;
  }

  template <typename U>
  static nanobind::handle from_cpp(U&& value, nanobind::rv_policy,
                                   nanobind::detail::cleanup_list*) noexcept {
    const T* source;
    if constexpr (std::is_pointer_v<std::remove_reference_t<U>>) {
      source = value;
    } else {
      source = &value;
    }
    if (!source) return nanobind::none().release();
    const ObjectTable* table = object_table();
    if (!table) return {};
    return static_cast<PyObject*>(table->object_of(source, typeid(T)));
  }

  template <typename U>
  bool can_cast() const noexcept {
    return !fits_ || std::is_pointer_v<U> || value_ != nullptr;
  }

  // Null for None.
  operator T*() { return fits_ ? value_ : &value(); }
  operator T&() { return value(); }
  operator T&&() { return static_cast<T&&>(value()); }

 private:
  T& value() {
    if (!fits_) {
      find_object_table();
      throw nanobind::python_error();
    }
    if (!value_) throw nanobind::next_overload();  // None
    return *value_;
  }

  T* value_ = nullptr;
  bool fits_ = true;
};

}  // namespace mlx::core::python

namespace nanobind::detail {

#define MLX_NANOBIND_CASTER(TYPE, NAME)                            \
  template <>                                                      \
  struct type_caster<TYPE> : mlx::core::python::CoreCaster<TYPE> { \
    static constexpr auto Name = const_name("mlx.core." NAME);     \
  }

MLX_NANOBIND_CASTER(mlx::core::array, "array");
MLX_NANOBIND_CASTER(mlx::core::Dtype, "Dtype");
MLX_NANOBIND_CASTER(mlx::core::Device, "Device");
MLX_NANOBIND_CASTER(mlx::core::Stream, "Stream");
MLX_NANOBIND_CASTER(mlx::core::ThreadLocalStream, "ThreadLocalStream");
MLX_NANOBIND_CASTER(mlx::core::Device::DeviceType, "DeviceType");

#undef MLX_NANOBIND_CASTER

}  // namespace nanobind::detail

#endif
