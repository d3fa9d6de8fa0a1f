// Python's operators on arrays.
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "array/array.h"
#include "convert/arguments.h"
#include "convert/convert.h"
#include "mlx/ops/binary.h"
#include "mlx/ops/linear.h"
#include "mlx/ops/unary.h"

using namespace pybind11::literals;

namespace {

// The object that an operator in place changes, and returns.
class ArrayObject : public py::object {
 public:
  PYBIND11_OBJECT(ArrayObject, py::object, is_array)
  mx::array& value() const { return cast<mx::array&>(); }
};

using Binary = mx::array (*)(const mx::array&, const mx::array&, mx::StreamOrDevice);

enum class Operands { any, no_floats };

struct OperatorEntry {
  const char* symbol;  // the name between the underscores
  const char* verb;
  Binary function;
  Operands operands = Operands::any;
  binaryfunc PyNumberMethods::* slot = nullptr;
};

constexpr OperatorEntry kArithmetic[] = {
    {"add", "addition", &mx::add, Operands::any, &PyNumberMethods::nb_add},
    {"sub", "subtraction", &mx::subtract, Operands::any, &PyNumberMethods::nb_subtract},
    {"mul", "multiplication", &mx::multiply, Operands::any, &PyNumberMethods::nb_multiply},
    {"truediv", "division", &mx::divide, Operands::any, &PyNumberMethods::nb_true_divide},
    {"floordiv", "floor division", &mx::floor_divide, Operands::any,
     &PyNumberMethods::nb_floor_divide},
    {"mod", "modulus", &mx::remainder, Operands::any, &PyNumberMethods::nb_remainder},
    {"pow", "power", &mx::power},
    {"and", "bitwise and", &mx::bitwise_and, Operands::no_floats, &PyNumberMethods::nb_and},
    {"or", "bitwise or", &mx::bitwise_or, Operands::no_floats, &PyNumberMethods::nb_or},
    {"xor", "bitwise xor", &mx::bitwise_xor, Operands::no_floats, &PyNumberMethods::nb_xor},
    {"lshift", "left shift", &mx::left_shift, Operands::no_floats, &PyNumberMethods::nb_lshift},
    {"rshift", "right shift", &mx::right_shift, Operands::no_floats, &PyNumberMethods::nb_rshift},
};

constexpr OperatorEntry kMatmul = {"matmul", "matrix multiplication", &mx::matmul, Operands::any,
                                   &PyNumberMethods::nb_matrix_multiply};

constexpr OperatorEntry kComparisons[] = {
    {"lt", "less than", &mx::less},
    {"le", "less than or equal", &mx::less_equal},
    {"gt", "greater than", &mx::greater},
    {"ge", "greater than or equal", &mx::greater_equal},
};

// None raises TypeError, other objects ValueError, as in MLX.
[[noreturn]] void refuse(const char* verb, py::handle other) {
  std::string what =
      std::string("Cannot perform ") + verb + " on an mlx.core.array and " + type_name(other) + ".";
  if (other.is_none()) throw py::type_error(what);
  throw std::invalid_argument(what);
}

mx::array apply(const OperatorEntry& e, const mx::array& a, const mx::array& b) {
  if (e.operands == Operands::no_floats &&
      (mx::issubdtype(a.dtype(), mx::inexact) || mx::issubdtype(b.dtype(), mx::inexact))) {
    throw std::invalid_argument(std::string("Floating point types not allowed with ") + e.verb +
                                ".");
  }
  return e.function(a, b, {});
}

// Another class may support arrays on its left: then its reflected method is called. Python's
// built-in classes do not.
bool may_know_arrays(py::handle other, const std::string& reflected) {
  const py::handle type = py::type::handle_of(other);
  return py::hasattr(type, reflected.c_str()) &&
         !py::str("builtins").equal(type.attr("__module__"));
}

py::object binary(const OperatorEntry& e, const std::string& reflected, const mx::array& a,
                  py::handle b) {
  if (is_operand(b)) return py::cast(apply(e, a, to_operand(b, a.dtype())));
  if (may_know_arrays(b, reflected)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  refuse(e.verb, b);
}

std::string operator_doc(const std::string& name) {
  return name + "(self, other: scalar | array) -> array";
}

void define_arithmetic(ArrayClass& cls, const OperatorEntry& e) {
  std::string forward = std::string("__") + e.symbol + "__";
  std::string reflected = std::string("__r") + e.symbol + "__";
  std::string in_place = std::string("__i") + e.symbol + "__";
  cls.def(
      forward.c_str(),
      [e, reflected](const mx::array& a, py::handle other) {
        return binary(e, reflected, a, other);
      },
      "other"_a, py::is_operator(), operator_doc(forward).c_str());
  cls.def(
      reflected.c_str(),
      [e](const mx::array& a, py::handle other) -> py::object {
        if (!is_operand(other)) {
          // In MLX these operators have no reflected methods.
          if (e.operands == Operands::no_floats)
            return py::reinterpret_borrow<py::object>(Py_NotImplemented);
          refuse(e.verb, other);
        }
        return py::cast(apply(e, to_operand(other, a.dtype()), a));
      },
      "other"_a, py::is_operator(), operator_doc(reflected).c_str());
  cls.def(
      in_place.c_str(),
      [e](const ArrayObject& self, py::handle other) {
        if (!is_operand(other)) refuse(e.verb, other);
        mx::array& a = self.value();
        if (e.function == static_cast<Binary>(&mx::divide) &&
            !mx::issubdtype(a.dtype(), mx::inexact)) {
          throw std::invalid_argument(
              "In place division cannot be performed on arrays of integers or bool.");
        }
        a.overwrite_descriptor(apply(e, a, to_operand(other, a.dtype())));
        return self;
      },
      "other"_a, py::is_operator(), operator_doc(in_place).c_str());
}

void define_comparison(ArrayClass& cls, const OperatorEntry& e) {
  std::string name = std::string("__") + e.symbol + "__";
  cls.def(
      name.c_str(),
      [e](const mx::array& a, py::handle other) {
        if (!is_operand(other)) refuse(e.verb, other);
        return apply(e, a, to_operand(other, a.dtype()));
      },
      "other"_a, py::is_operator(), operator_doc(name).c_str());
}

void define_equality(ArrayClass& cls) {
  // Comparing with an object that is not an array is no error, as in Python. None is an error, as
  // in MLX.
  cls.def(
      "__eq__",
      [](const mx::array& a, py::handle other) -> py::object {
        if (other.is_none()) refuse("equality", other);
        if (!is_operand(other)) return py::bool_(false);
        return py::cast(mx::equal(a, to_operand(other, a.dtype())));
      },
      "other"_a, py::is_operator(), "__eq__(self, other: object) -> array");
  cls.def(
      "__ne__",
      [](const mx::array& a, py::handle other) -> py::object {
        if (other.is_none()) refuse("inequality", other);
        if (!is_operand(other)) return py::bool_(true);
        return py::cast(mx::not_equal(a, to_operand(other, a.dtype())));
      },
      "other"_a, py::is_operator(), "__ne__(self, other: object) -> array");
}

void define_matmul(ArrayClass& cls) {
  cls.def(
      "__matmul__", [](const mx::array& a, const mx::array& b) { return mx::matmul(a, b); },
      "other"_a, py::is_operator());
  cls.def(
      "__imatmul__",
      [](const ArrayObject& self, const mx::array& other) {
        self.value().overwrite_descriptor(mx::matmul(self.value(), other));
        return self;
      },
      "other"_a, py::is_operator(), "__imatmul__(self, other: array) -> array");
}

// The value of an operand as most operators have it: an array, or a number beside an array.
std::optional<mx::array> simple_operand(PyObject* operand, const mx::array* other) {
  if (const mx::array* value = exact_array(operand)) return *value;
  const bool is_number = PyFloat_CheckExact(operand) || PyLong_CheckExact(operand);
  return other && is_number ? std::optional(to_operand(operand, other->dtype())) : std::nullopt;
}

// Python finds an operator's method by its name, and calls it as any other function, which takes
// longer than the operation. Where this is in the operator's slot, only other operands need that.
// Classes that inherit from array, or a new method of the class itself, have Python's slots.
template <const OperatorEntry* kEntry>
struct OperatorSlot {
  static inline PyObject* forward = nullptr;  // the methods' names
  static inline PyObject* reflected = nullptr;

  static PyObject* call(PyObject* left, PyObject* right) noexcept {
    try {
      const auto a = simple_operand(left, exact_array(right));
      const auto b = simple_operand(right, exact_array(left));
      if (a && b) return array_object(apply(*kEntry, *a, *b)).release().ptr();
    } catch (...) {  // the method raises it, too
    }
    if (is_array(left)) return PyObject_CallMethodOneArg(left, forward, right);
    if (kEntry != &kMatmul) return PyObject_CallMethodOneArg(right, reflected, left);
    Py_RETURN_NOTIMPLEMENTED;
  }

  static void install(PyNumberMethods& methods) {
    if constexpr (kEntry->slot != nullptr) {
      const std::string symbol = kEntry->symbol;
      forward = PyUnicode_InternFromString(("__" + symbol + "__").c_str());
      reflected = PyUnicode_InternFromString(("__r" + symbol + "__").c_str());
      methods.*kEntry->slot = &OperatorSlot::call;
    }
  }
};

template <size_t... kIndices>
void install_slots(PyNumberMethods& methods, std::index_sequence<kIndices...>) {
  (OperatorSlot<&kArithmetic[kIndices]>::install(methods), ...);
  OperatorSlot<&kMatmul>::install(methods);
}

mx::array invert(const mx::array& a) {
  if (mx::issubdtype(a.dtype(), mx::inexact)) {
    throw std::invalid_argument("Floating point types not allowed with bitwise inversion.");
  }
  return a.dtype() == mx::bool_ ? mx::logical_not(a) : mx::bitwise_invert(a);
}

}  // namespace

void init_array_operators(ArrayClass& cls) {
  // Defining __eq__ removes __hash__ unless it is defined before.
  py::object hash = cls.attr("__hash__");
  for (const OperatorEntry& e : kArithmetic) define_arithmetic(cls, e);
  for (const OperatorEntry& e : kComparisons) define_comparison(cls, e);
  cls.attr("__div__") = cls.attr("__truediv__");
  cls.attr("__rdiv__") = cls.attr("__rtruediv__");
  define_equality(cls);
  define_matmul(cls);
  install_slots(*array_class()->tp_as_number, std::make_index_sequence<std::size(kArithmetic)>());
  cls.attr("__hash__") = hash;
  cls.def("__neg__", [](const mx::array& a) { return mx::negative(a); });
  cls.def("__pos__", [](const mx::array& a) { return a; });
  cls.def("__abs__", [](const mx::array& a) { return mx::abs(a); });
  cls.def("__invert__", &invert);
}
