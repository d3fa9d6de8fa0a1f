// The class array: construction, properties and protocols.
#include "array/array.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "array/dtype.h"
#include "convert/arguments.h"
#include "convert/buffer.h"
#include "convert/convert.h"
#include "convert/dlpack_abi.h"
#include "convert/optional_int.h"
#include "mlx/ops/shape.h"
#include "mlx/ops/unary.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kArrayInitDoc = R"doc(
__init__(self, val: scalar | array | Sequence[Any] | DLPackCompatible, dtype: Dtype | None = None) -> None

Args:
    val: A number, nested lists of numbers, an array, or an object with the buffer protocol or `__dlpack__`.
    dtype: The type of the elements. None means the type that follows from `val`: integers become int32, or
        the one of int64 and uint64 that holds them all; a list for which there is none is refused.

Example:
    >>> mx.array([[1, 2], [3, 4]], dtype=mx.float16).shape
    (2, 2)
)doc";

void define_properties(ArrayClass& cls) {
  cls.def_property_readonly(
         "shape", [](const mx::array& a) { return ints_to_tuple(a.shape()); },
         "tuple[int, ...]: The extent of each axis.")
      .def_property_readonly(
          "dtype", [](const mx::array& a) { return dtype_object(a.dtype()); },
          "Dtype: The type of the elements.")
      .def_property_readonly("ndim", &mx::array::ndim, "int: The number of axes.")
      .def_property_readonly("size", &mx::array::size, "int: The number of elements.")
      .def_property_readonly("itemsize", &mx::array::itemsize, "int: The bytes of an element.")
      .def_property_readonly("nbytes", &mx::array::nbytes, "int: The bytes of all elements.")
      .def_property_readonly(
          "real", [](const mx::array& a) { return mx::real(a); }, "array: The real parts.")
      .def_property_readonly(
          "imag", [](const mx::array& a) { return mx::imag(a); }, "array: The imaginary parts.")
      .def("__len__",
           [](const mx::array& a) {
             if (a.ndim() == 0) throw py::type_error("len() 0-dimensional array.");
             return a.shape(0);
           })
      .def("__hash__", [](const mx::array& a) { return static_cast<Py_hash_t>(a.id() >> 4); });
}

std::string format(const py::object& self, const std::string& spec) {
  const auto& a = self.cast<const mx::array&>();
  if (a.ndim() > 0 && spec.empty()) return py::str(self);
  if (a.ndim() > 0)
    throw py::type_error("unsupported format string passed to mlx.core.array.__format__");
  return py::module_::import("builtins").attr("format")(item(a), spec).cast<std::string>();
}

py::tuple get_state(const mx::array& source) {
  mx::array a = mx::contiguous(source);
  ensure_available(a);
  const char* bytes = a.nbytes() ? a.data<char>() : "";
  return py::make_tuple(py::bytes(bytes, a.nbytes()), ints_to_tuple(a.shape()),
                        dtype_object(a.dtype()));
}

mx::array set_state(const py::tuple& state) {
  auto bytes = state[0].cast<py::bytes>();
  Ints shape;
  load_ints(state[1], shape);
  std::string_view view = bytes;
  auto dtype = state[2].cast<mx::Dtype>();
  size_t expected = dtype.size();
  for (int64_t extent : shape.value) expected *= extent;
  if (view.size() != expected)
    throw std::invalid_argument("[array] The pickled data do not fit the shape.");
  return array_from_bytes(view.data(), to_shape(shape, "[array] shape"), dtype);
}

py::capsule dlpack(const mx::array& a, const py::object& max_version, const py::object& device,
                   const py::object& copy) {
  if (!device.is_none() && device.cast<std::pair<int, int>>().first != dlpack::kCPU) {
    throw py::buffer_error(
        "[__dlpack__] The array's memory belongs to the host; other devices need a copy.");
  }
  bool versioned = !max_version.is_none() && max_version.attr("__getitem__")(0).cast<int>() >= 1;
  bool must_copy = !copy.is_none() && to_bool(copy);
  return to_dlpack(a, versioned, must_copy);
}

void define_protocols(ArrayClass& cls) {
  cls.def("__repr__", [](const mx::array& a) { return to_text(a); })
      .def(
          "__bytes__",
          [](const py::object& self) {
            return py::reinterpret_steal<py::bytes>(PyBytes_FromObject(self.ptr()));
          },
          "__bytes__(self) -> bytes")
      .def("__format__", &format, "__format__(self, format_spec: str, /) -> str")
      .def(py::pickle(&get_state, &set_state))
      .def("__copy__", [](const mx::array& a) { return mx::array(a); })
      .def(
          "__deepcopy__", [](const mx::array& a, const py::object&) { return mx::array(a); },
          "memo"_a)
      .def(
          "__array__",
          [](const py::object& self, const py::object& dtype, const py::object& copy) {
            return to_numpy(self, dtype, copy);
          },
          "dtype"_a = py::none(), "copy"_a = py::none(),
          "__array__(self, dtype: object = None, copy: bool | None = None) -> Any")
      .def(
          "__dlpack__",
          [](const mx::array& a, const py::object&, const py::object& max_version,
             const py::object& device,
             const py::object& copy) { return dlpack(a, max_version, device, copy); },
          py::kw_only(), "stream"_a = py::none(), "max_version"_a = py::none(),
          "dl_device"_a = py::none(), "copy"_a = py::none())
      .def("__dlpack_device__",
           [](const mx::array&) { return py::make_tuple(static_cast<int>(dlpack::kCPU), 0); })
      .def(
          "__array_namespace__",
          [](const mx::array&, const py::object&) { return py::module_::import("mlx.core"); },
          "api_version"_a = py::none(),
          "__array_namespace__(self, api_version: str | None = None) -> Any\n\nGives mlx.core.");
}

py::object as_number(const mx::array& a, const char* what) {
  if (a.size() != 1) {
    throw std::invalid_argument(
        std::string("[") + what +
        "] Only arrays of size 1 can be converted to Python scalars, not one of size " +
        std::to_string(a.size()) + ".");
  }
  return item(a);
}

py::object as_index(const mx::array& a) {
  if (a.ndim() > 0 || !mx::issubdtype(a.dtype(), mx::integer)) {
    throw py::type_error("Only integer arrays without axes can be converted to an index.");
  }
  return item(a);
}

void define_conversions(ArrayClass& cls) {
  cls.def(
         "item", [](const mx::array& a) { return item(a); },
         "item(self) -> Any\n\nGives the value of an array of size 1 as a Python "
         "number.\n\nReturns:\n    A bool, int, float or complex.")
      .def(
          "tolist", [](const mx::array& a) { return to_nested_list(a); },
          "tolist(self) -> Any\n\nGives the values as Python numbers.\n\nReturns:\n    Nested "
          "lists; a number for an array without axes.")
      .def("__bool__",
           [](const mx::array& a) { return PyObject_IsTrue(as_number(a, "bool").ptr()) == 1; })
      .def("__int__", [](const mx::array& a) { return py::int_(as_number(a, "int")); })
      .def("__index__", &as_index)
      .def("__float__", [](const mx::array& a) { return py::float_(as_number(a, "float")); })
      .def(
          "__complex__",
          [](const mx::array& a) {
            return py::module_::import("builtins").attr("complex")(as_number(a, "complex"));
          },
          "__complex__(self) -> complex");
}

// An object that wraps an array.
struct Wrapped {
  py::object object;
};

void define_namespace_info(py::module_& m) {
  m.def(
      "__array_namespace_info__",
      [] { return py::module_::import("mlx._array_api").attr("ArrayNamespaceInfo")(); },
      "__array_namespace_info__() -> Any\n\nTells what the array API standard asks for: devices, "
      "types and capabilities.\n\nReturns:\n    An object with the standard's methods.");
}

void define_array_like(py::module_& m) {
  py::class_<Wrapped>(m, "ArrayLike",
                      "An object that stands for an array: one with a method `__mlx_array__` that "
                      "returns it, or anything that `array` takes.")
      .def(py::init<py::object>(), "object"_a,
           "__init__(self, object: object) -> None\n\nArgs:\n    object: The object.")
      .def(
          "__mlx_array__",
          [](const Wrapped& w) { return array_from_object(w.object, std::nullopt); },
          "Gives the array.\n\nReturns:\n    The array.");
}

}  // namespace

void init_array(py::module_& m) {
  ArrayClass cls(m, "array", py::custom_type_setup([](PyHeapTypeObject* type) {
                   install_buffer_protocol(type);
                 }),
                 "An n-dimensional array whose values are computed when they are needed.");
  cls.def(py::init([](const py::object& val, const mx::Dtype* dtype) {
            return array_from_object(val, dtype ? std::optional<mx::Dtype>(*dtype) : std::nullopt);
          }),
          "val"_a, "dtype"_a = py::none(), kArrayInitDoc);
  define_properties(cls);
  define_protocols(cls);
  define_conversions(cls);
  init_array_operators(cls);
  init_array_indexing(m, cls);
  define_array_like(m);
  define_namespace_info(m);
}
