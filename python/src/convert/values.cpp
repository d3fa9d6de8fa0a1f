// Values of arrays as Python numbers, nested lists and NumPy arrays.
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "convert/optional_int.h"
#include "mlx/dtype_utils.h"
#include "mlx/ops.h"

namespace {

template <typename T>
py::object to_python(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return py::bool_(value);
  } else if constexpr (std::is_same_v<T, mx::complex64_t>) {
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(value.real(), value.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return py::int_(value);
  } else {
    return py::float_(static_cast<double>(
        static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
  }
}

template <typename T>
py::object nested(const mx::array& a, const T* data, size_t axis) {
  if (axis == a.ndim()) return to_python(*data);
  int extent = a.shape()[axis];
  py::list result(extent);
  for (int i = 0; i < extent; ++i) {
    PyList_SET_ITEM(result.ptr(), i,
                    nested(a, data + i * a.strides()[axis], axis + 1).release().ptr());
  }
  return result;
}

template <typename T>
py::object nested_from_array(const mx::array& a) {
  T none{};
  return nested<T>(a, a.size() ? a.data<T>() : &none, 0);
}

// ml_dtypes adds bfloat16 to NumPy; without it the values are returned in single precision.
py::object bfloat16_to_numpy(const mx::array& a) {
  py::object numpy = py::module_::import("numpy");
  try {
    py::object type = py::module_::import("ml_dtypes").attr("bfloat16");
    return numpy.attr("asarray")(py::cast(mx::view(a, mx::uint16))).attr("view")(type);
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_ImportError)) throw;
  }
  return numpy.attr("asarray")(py::cast(mx::astype(a, mx::float32)));
}

}  // namespace

py::object item(mx::array a) {
  if (a.size() != 1) {
    throw std::invalid_argument(
        "[item] Only arrays of size 1 can be converted to Python scalars, not one of size " +
        std::to_string(a.size()) + ".");
  }
  ensure_available(a);
  return mx::dispatch_all_types(a.dtype(), [&](auto type) -> py::object {
    return to_python(*a.data<typename decltype(type)::type>());
  });
}

py::object to_nested_list(mx::array a) {
  ensure_available(a);
  return mx::dispatch_all_types(a.dtype(), [&](auto type) -> py::object {
    return nested_from_array<typename decltype(type)::type>(a);
  });
}

py::object to_numpy(const py::object& self, const py::object& dtype, const py::object& copy) {
  const auto& a = self.cast<const mx::array&>();
  bool must_copy = !copy.is_none() && to_bool(copy);
  bool must_view = !copy.is_none() && !to_bool(copy);
  if (must_view && (a.dtype() == mx::bfloat16)) {
    throw std::invalid_argument(
        "[array] A bfloat16 array cannot become a NumPy array without a copy.");
  }
  py::object numpy = py::module_::import("numpy");
  py::object view = a.dtype() == mx::bfloat16 ? bfloat16_to_numpy(a)
                                              : numpy.attr("asarray")(py::memoryview(self));
  if (!dtype.is_none()) {
    py::object cast = view.attr("astype")(dtype, py::arg("copy") = false);
    if (must_view && !cast.is(view)) {
      throw std::invalid_argument("[array] Another dtype needs a copy, which copy=False forbids.");
    }
    view = cast;
  }
  return must_copy ? view.attr("copy")() : view;
}
