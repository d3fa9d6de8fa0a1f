#include "convert/array_caster.h"

#include <type_traits>

#include "array/array.h"

// What pybind11 does, but for two things. The layout of an instance follows from the class. And the
// object does not enter the table that finds the object of a C++ reference: no function returns a
// reference to an array.
py::object array_object(mx::array value) {
  using Holder = std::unique_ptr<mx::array>;
  static_assert(std::is_same_v<ArrayClass::holder_type, Holder>);
  auto holder = std::make_unique<mx::array>(std::move(value));
  PyTypeObject* const type = array_class();
  auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!object) throw py::error_already_set();
  auto* instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  instance->simple_layout = true;
  instance->owned = true;
  instance->simple_value_holder[0] = holder.get();
  new (static_cast<void*>(&instance->simple_value_holder[1])) Holder(std::move(holder));
  instance->simple_holder_constructed = true;
  return object;
}
