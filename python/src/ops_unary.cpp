// Elementwise operations of one array.
#include "mlx/ops/graph.h"
#include "mlx/ops/unary.h"
#include "ops.h"

using namespace pybind11::literals;

namespace {

using Unary = mx::array (*)(const mx::array&, mx::StreamOrDevice);

struct Entry {
  const char* name;
  Unary function;
  const char* doc;
  bool is_method = false;
};

const Entry kFunctions[] = {
    {"abs", &mx::abs, "Absolute value of every element.", true},
    {"sign", &mx::sign, "-1, 0 or 1 after the sign of every element."},
    {"positive", &mx::positive, "The elements as they are."},
    {"negative", &mx::negative, "Every element with its sign changed."},
    {"logical_not", &mx::logical_not, "Whether every element is false."},
    {"exp", &mx::exp, "The exponential of every element.", true},
    {"expm1", &mx::expm1, "exp(x) - 1, accurate near zero."},
    {"erf", &mx::erf, "The error function of every element."},
    {"erfinv", &mx::erfinv, "The inverse of the error function."},
    {"sin", &mx::sin, "The sine of every element.", true},
    {"cos", &mx::cos, "The cosine of every element.", true},
    {"tan", &mx::tan, "The tangent of every element."},
    {"arcsin", &mx::arcsin, "The inverse sine of every element."},
    {"arccos", &mx::arccos, "The inverse cosine of every element."},
    {"arctan", &mx::arctan, "The inverse tangent of every element."},
    {"sinh", &mx::sinh, "The hyperbolic sine of every element."},
    {"cosh", &mx::cosh, "The hyperbolic cosine of every element."},
    {"tanh", &mx::tanh, "The hyperbolic tangent of every element."},
    {"arcsinh", &mx::arcsinh, "The inverse hyperbolic sine of every element."},
    {"arccosh", &mx::arccosh, "The inverse hyperbolic cosine of every element."},
    {"arctanh", &mx::arctanh, "The inverse hyperbolic tangent of every element."},
    {"degrees", &mx::degrees, "Radians as degrees."},
    {"radians", &mx::radians, "Degrees as radians."},
    {"log", &mx::log, "The natural logarithm of every element.", true},
    {"log2", &mx::log2, "The logarithm of base 2.", true},
    {"log10", &mx::log10, "The logarithm of base 10.", true},
    {"log1p", &mx::log1p, "log(1 + x), accurate near zero.", true},
    {"sigmoid", &mx::sigmoid, "The logistic function of every element."},
    {"square", &mx::square, "The square of every element.", true},
    {"sqrt", &mx::sqrt, "The square root of every element.", true},
    {"rsqrt", &mx::rsqrt, "One over the square root of every element.", true},
    {"reciprocal", &mx::reciprocal, "One over every element.", true},
    {"floor", &mx::floor, "The largest integer that is not above the element."},
    {"ceil", &mx::ceil, "The smallest integer that is not below the element."},
    {"trunc", &mx::trunc, "Every element without its fraction."},
    {"real", &mx::real, "The real parts."},
    {"imag", &mx::imag, "The imaginary parts."},
    {"conj", &mx::conjugate, "The complex conjugates.", true},
    {"conjugate", &mx::conjugate, "The complex conjugates."},
    {"isnan", &mx::isnan, "Whether every element is not a number."},
    {"isinf", &mx::isinf, "Whether every element is infinite."},
    {"isfinite", &mx::isfinite, "Whether every element is finite."},
    {"isposinf", &mx::isposinf, "Whether every element is positive infinity."},
    {"isneginf", &mx::isneginf, "Whether every element is negative infinity."},
    {"bitwise_invert", &mx::bitwise_invert, "Every element with its bits inverted."},
    {"stop_gradient", &mx::stop_gradient, "The array; no gradient flows through it."},
};

// These take their arguments by name or place alike.
bool takes_plain_arguments(std::string_view name) {
  return name.starts_with("is") || name.starts_with("bitwise");
}

void define(py::module_& m, ArrayClass& cls, const Entry& entry) {
  auto call = [function = entry.function](const ArrayLike& a, StreamArg s) {
    return function(to_array(a), s);
  };
  if (takes_plain_arguments(entry.name)) {
    m.def(entry.name, call, "a"_a, "stream"_a = py::none(), entry.doc);
  } else if (std::string_view(entry.name).starts_with("conj")) {
    m.def(entry.name, call, "a"_a, STREAM_KEYWORD, entry.doc);
  } else {
    m.def(entry.name, call, "a"_a, py::pos_only(), STREAM_KEYWORD, entry.doc);
  }
  if (entry.is_method) cls.def(entry.name, call, STREAM_KEYWORD, entry.doc);
}

void define_round(py::module_& m, ArrayClass& cls) {
  auto round = [](const ArrayLike& a, int decimals, StreamArg s) {
    return mx::round(to_array(a), decimals, s);
  };
  const char* doc = "Rounds to `decimals` places; halves go to the even neighbour.";
  m.def("round", round, "a"_a, py::pos_only(), "decimals"_a = 0, "stream"_a = py::none(), doc);
  cls.def("round", round, "decimals"_a = 0, STREAM_KEYWORD, doc);
}

void define_types(py::module_& m, ArrayClass& cls) {
  auto astype = [](const mx::array& a, mx::Dtype dtype, StreamArg s) {
    return mx::astype(a, dtype, s);
  };
  m.def("astype", astype, "a"_a, "dtype"_a, py::pos_only(), STREAM_KEYWORD,
        "The elements converted to another type.");
  cls.def("astype", astype, "dtype"_a, "stream"_a = py::none(),
          "The elements converted to another type.");
  auto view = [](const ArrayLike& a, mx::Dtype dtype, StreamArg s) {
    return mx::view(to_array(a), dtype, s);
  };
  m.def("view", view, "a"_a, "dtype"_a, "stream"_a = py::none(),
        "The same bytes seen as another type.");
  cls.def("view", view, "dtype"_a, STREAM_KEYWORD, "The same bytes seen as another type.");
}

}  // namespace

void init_ops_unary(py::module_& m, ArrayClass& cls) {
  for (const Entry& entry : kFunctions) define(m, cls, entry);
  define_round(m, cls);
  define_types(m, cls);
  m.def(
      "nan_to_num",
      [](const ArrayLike& a, float nan, const py::object& posinf, const py::object& neginf,
         StreamArg s) {
        auto optional = [](const py::object& o) {
          return o.is_none() ? std::nullopt
                             : std::optional<float>(static_cast<float>(py::float_(o)));
        };
        return mx::nan_to_num(to_array(a), nan, optional(posinf), optional(neginf), s);
      },
      "a"_a, "nan"_a = 0.0f, "posinf"_a = py::none(), "neginf"_a = py::none(), STREAM_KEYWORD,
      "Replaces NaN by `nan` and infinities by `posinf` and `neginf` (by default the largest "
      "finite values).");
}
