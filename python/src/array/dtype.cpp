// Dtype, DtypeCategory, their predicates, finfo and iinfo.
#include "array/dtype.h"

#include <pybind11/native_enum.h>

#include <array>
#include <sstream>
#include <stdexcept>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kIssubdtypeDoc =
    R"(issubdtype(arg1: Dtype | DtypeCategory, arg2: Dtype | DtypeCategory) -> bool

Tells whether a type or category is the same as another or belongs to it.

Args:
    arg1: The type or category.
    arg2: What it may belong to.

Returns:
    Whether it does.

Example:
    >>> mx.issubdtype(mx.float16, mx.floating)
    True)";

const char* const kIsdtypeDoc =
    R"(isdtype(dtype: Dtype, kind: Dtype | str | tuple[Dtype | str, ...]) -> bool

Tells whether a type is of a kind.

Args:
    dtype: The type.
    kind: A type, or a name of the array API standard: 'bool', 'signed integer', 'unsigned integer',
        'integral', 'real floating', 'complex floating' or 'numeric'. A tuple means any of them.

Returns:
    Whether it is.)";

const char* const kResultTypeDoc = R"(result_type(*arrays_and_dtypes: array | Dtype) -> Dtype

Finds the type that operations convert their operands to.

Args:
    *arrays_and_dtypes: The operands or their types; at least one.

Returns:
    The common type.

Example:
    >>> mx.result_type(mx.int32, mx.float16)
    mlx.core.float16)";

const char* const kCanCastDoc = R"(can_cast(from_: array | Dtype, to: Dtype) -> bool

Tells whether operations may convert one type to another.

Args:
    from_: The type, or an array of the type.
    to: The type to convert to.

Returns:
    Whether they may.)";

constexpr mx::Dtype kDtypes[] = {
    mx::bool_, mx::uint8, mx::uint16,  mx::uint32,   mx::uint64,  mx::int8,    mx::int16,
    mx::int32, mx::int64, mx::float16, mx::bfloat16, mx::float32, mx::float64, mx::complex64,
};

std::array<PyObject*, std::size(kDtypes)> dtype_objects{};

size_t position(mx::Dtype dtype) {
  size_t i = 0;
  while (i + 1 < std::size(kDtypes) && kDtypes[i].val() != dtype.val()) ++i;
  return i;
}

std::string attribute_name(mx::Dtype dtype) {
  return dtype == mx::bool_ ? "bool_" : dtype_name(dtype);
}

bool same(mx::Dtype a, mx::Dtype b) { return a.val() == b.val(); }

bool is_kind(mx::Dtype dtype, const std::string& kind) {
  if (kind == "bool") return same(dtype, mx::bool_);
  if (kind == "signed integer") return mx::issubdtype(dtype, mx::signedinteger);
  if (kind == "unsigned integer") return mx::issubdtype(dtype, mx::unsignedinteger);
  if (kind == "integral") return mx::issubdtype(dtype, mx::integer);
  if (kind == "real floating") return mx::issubdtype(dtype, mx::floating);
  if (kind == "complex floating") return mx::issubdtype(dtype, mx::complexfloating);
  if (kind == "numeric") return mx::issubdtype(dtype, mx::number);
  throw std::invalid_argument(
      "[isdtype] Unknown kind '" + kind +
      "'; allowed are 'bool', 'signed integer', 'unsigned integer', 'integral', "
      "'real floating', 'complex floating' and 'numeric'.");
}

bool isdtype(mx::Dtype dtype, py::handle kind) {
  if (py::isinstance<py::tuple>(kind)) {
    for (py::handle k : py::reinterpret_borrow<py::tuple>(kind)) {
      if (isdtype(dtype, k)) return true;
    }
    return false;
  }
  if (py::isinstance<py::str>(kind)) return is_kind(dtype, kind.cast<std::string>());
  if (py::isinstance<mx::Dtype>(kind)) return same(dtype, kind.cast<mx::Dtype>());
  throw std::invalid_argument("[isdtype] The kind must be a Dtype, a string or a tuple of them.");
}

mx::Dtype type_of(py::handle h, const char* op) {
  if (py::isinstance<mx::Dtype>(h)) return h.cast<mx::Dtype>();
  if (is_array(h)) return h.cast<const mx::array&>().dtype();
  throw std::invalid_argument(std::string("[") + op + "] Expected arrays or Dtypes but got " +
                              type_name(h) + ".");
}

mx::Dtype result_type(const py::args& args) {
  if (args.empty())
    throw std::invalid_argument("[result_type] At least one array or Dtype is required.");
  mx::Dtype result = type_of(args[0], "result_type");
  for (size_t i = 1; i < args.size(); ++i)
    result = mx::promote_types(result, type_of(args[i], "result_type"));
  return result;
}

void define_limits(py::module_& m) {
  py::class_<mx::finfo>(m, "finfo",
                        "Limits of a floating point type: min, max, eps, smallest_normal.")
      .def(py::init<mx::Dtype>(), "dtype"_a, "Args:\n    dtype: The type.")
      .def_property_readonly(
          "dtype", [](const mx::finfo& f) { return dtype_object(f.dtype); }, "Dtype: The type.")
      .def_property_readonly(
          "bits",
          [](const mx::finfo& f) { return f.dtype == mx::complex64 ? 32 : 8 * f.dtype.size(); },
          "int: The bits of a number.")
      .def_readonly("min", &mx::finfo::min, "float: The smallest finite value.")
      .def_readonly("max", &mx::finfo::max, "float: The largest finite value.")
      .def_readonly("eps", &mx::finfo::eps, "float: The distance from 1 to the next value.")
      .def_readonly("smallest_normal", &mx::finfo::smallest_normal,
                    "float: The smallest positive value of full precision.")
      .def("__repr__", [](const mx::finfo& f) {
        std::ostringstream os;
        os << "finfo(min=" << f.min << ", max=" << f.max << ", dtype=" << dtype_name(f.dtype)
           << ")";
        return os.str();
      });
  py::class_<mx::iinfo>(m, "iinfo", "Limits of an integer type: min and max.")
      .def(py::init<mx::Dtype>(), "dtype"_a, "Args:\n    dtype: The type.")
      .def_property_readonly(
          "dtype", [](const mx::iinfo& i) { return dtype_object(i.dtype); }, "Dtype: The type.")
      .def_readonly("min", &mx::iinfo::min, "int: The smallest finite value.")
      .def_readonly("max", &mx::iinfo::max, "int: The largest finite value.")
      .def("__repr__", [](const mx::iinfo& i) {
        std::ostringstream os;
        os << "iinfo(min=" << i.min << ", max=" << i.max << ", dtype=" << dtype_name(i.dtype)
           << ")";
        return os.str();
      });
}

[[noreturn]] void refuse_no_type(py::handle first, py::handle second) {
  const bool first_is_type =
      py::isinstance<mx::Dtype>(first) || py::isinstance<mx::Dtype::Category>(first);
  throw std::invalid_argument(
      std::string("[issubdtype] Expected a Dtype or a DtypeCategory as argument ") +
      (first_is_type ? "2" : "1") + " but got " + type_name((first_is_type ? second : first)) +
      ".");
}

void define_predicates(py::module_& m) {
  using Category = mx::Dtype::Category;
  m.def(
      "issubdtype", [](mx::Dtype a, mx::Dtype b) { return mx::issubdtype(a, b); }, "arg1"_a,
      "arg2"_a, kIssubdtypeDoc);
  m.def(
      "issubdtype", [](mx::Dtype a, Category b) { return mx::issubdtype(a, b); }, "arg1"_a,
      "arg2"_a);
  m.def(
      "issubdtype", [](Category a, mx::Dtype b) { return mx::issubdtype(a, b); }, "arg1"_a,
      "arg2"_a);
  m.def(
      "issubdtype", [](Category a, Category b) { return mx::issubdtype(a, b); }, "arg1"_a,
      "arg2"_a);
  m.def(
      "issubdtype", [](py::handle a, py::handle b) -> bool { refuse_no_type(a, b); }, "arg1"_a,
      "arg2"_a);
  m.def("isdtype", &isdtype, "dtype"_a, "kind"_a, kIsdtypeDoc);
  m.def(
      "result_type", [](const py::args& args) { return dtype_object(result_type(args)); },
      kResultTypeDoc);
  m.def(
      "can_cast",
      [](py::handle from, mx::Dtype to) {
        mx::Dtype type = type_of(from, "can_cast");
        return same(mx::promote_types(type, to), to);
      },
      "from_"_a, "to"_a, kCanCastDoc);
}

}  // namespace

std::string dtype_name(mx::Dtype dtype) {
  std::string name = mx::dtype_to_string(dtype);
  return name == "bool_" ? "bool" : name;
}

py::object dtype_object(mx::Dtype dtype) {
  return py::reinterpret_borrow<py::object>(dtype_objects[position(dtype)]);
}

void init_dtype(py::module_& m) {
  py::class_<mx::Dtype>(m, "Dtype", "The type of an array's elements.")
      .def_property_readonly("size", &mx::Dtype::size, "int: The bytes of an element.")
      .def("__repr__", [](mx::Dtype t) { return "mlx.core." + dtype_name(t); })
      .def("__eq__",
           [](mx::Dtype t, py::handle o) {
             return py::isinstance<mx::Dtype>(o) && same(t, o.cast<mx::Dtype>());
           })
      .def("__ne__",
           [](mx::Dtype t, py::handle o) {
             return !py::isinstance<mx::Dtype>(o) || !same(t, o.cast<mx::Dtype>());
           })
      .def("__hash__", [](mx::Dtype t) { return static_cast<Py_hash_t>(t.val()) + 1; })
      .def("__reduce__", &attribute_name);
  for (size_t i = 0; i < std::size(kDtypes); ++i) {
    py::object object = py::cast(kDtypes[i]);
    dtype_objects[i] = object.inc_ref().ptr();
    m.attr(attribute_name(kDtypes[i]).c_str()) = object;
  }

  using Category = mx::Dtype::Category;
  py::native_enum<Category>(m, "DtypeCategory", "enum.Enum",
                            "Families of element types, as NumPy has them.")
      .value("complexfloating", mx::complexfloating)
      .value("floating", mx::floating)
      .value("inexact", mx::inexact)
      .value("signedinteger", mx::signedinteger)
      .value("unsignedinteger", mx::unsignedinteger)
      .value("integer", mx::integer)
      .value("number", mx::number)
      .value("generic", mx::generic)
      .export_values()
      .finalize();
  const py::object categories = m.attr("DtypeCategory");
  categories.attr("__repr__") = categories.attr("__str__");
  define_limits(m);
  define_predicates(m);
}
