// Elementwise operations of one array.
#include "mlx/ops/unary.h"

#include <algorithm>
#include <string_view>

#include "docs/docs.h"
#include "mlx/ops/graph.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

using Unary = mx::array (*)(const mx::array&, mx::StreamOrDevice);

struct UnaryEntry {
  const char* name;
  Unary function;
  const char* doc;
};

const UnaryEntry kUnaryFunctions[] = {
#define MLX_UNARY(Class, function, types, on_double, doc) {#function, &mx::function, doc},
#include "mlx/primitives/elementwise.def"
    // Functions composed of others.
    {"positive", &mx::positive, "The elements as they are."},
    {"degrees", &mx::degrees, "Radians as degrees."},
    {"radians", &mx::radians, "Degrees as radians."},
    {"reciprocal", &mx::reciprocal, "One over every element."},
    {"trunc", &mx::trunc, "Every element without its fraction."},
    {"conj", &mx::conjugate, "The complex conjugates."},
    {"isnan", &mx::isnan, "Whether every element is not a number."},
    {"isinf", &mx::isinf, "Whether every element is infinite."},
    {"isfinite", &mx::isfinite, "Whether every element is finite."},
    {"isposinf", &mx::isposinf, "Whether every element is positive infinity."},
    {"isneginf", &mx::isneginf, "Whether every element is negative infinity."},
    {"stop_gradient", &mx::stop_gradient, "The array; no gradient flows through it."},
};

// Arrays have these as methods too.
constexpr std::string_view kMethods[] = {"abs",        "exp",    "sin",   "cos",  "log",
                                         "log2",       "log10",  "log1p", "sqrt", "rsqrt",
                                         "reciprocal", "square", "conj"};

bool is_method(std::string_view name) {
  return std::ranges::find(kMethods, name) != std::end(kMethods);
}

// These take their arguments by name or position.
bool takes_plain_arguments(std::string_view name) {
  return name.starts_with("is") || name.starts_with("bitwise");
}

void define(py::module_& m, ArrayClass& cls, const UnaryEntry& entry) {
  const std::string doc = unary_doc(entry.doc);
  auto call = [function = entry.function](const ArrayLike& a, StreamArg s) {
    return function(to_array(a), s);
  };
  std::string_view name = entry.name;
  if (takes_plain_arguments(name)) {
    m.def(entry.name, call, "a"_a, "stream"_a = py::none(), doc.c_str());
  } else if (name.starts_with("conj")) {
    m.def(entry.name, call, "a"_a, STREAM_KEYWORD, doc.c_str());
  } else {
    m.def(entry.name, call, "a"_a, py::pos_only(), STREAM_KEYWORD, doc.c_str());
  }
  if (is_method(name)) cls.def(entry.name, call, STREAM_KEYWORD, doc.c_str());
}

// round has one more argument.
void define_round(py::module_& m, ArrayClass& cls, const char* doc) {
  auto round = [](const ArrayLike& a, int decimals, StreamArg s) {
    return mx::round(to_array(a), decimals, s);
  };
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
  for (const UnaryEntry& entry : kUnaryFunctions) {
    if (entry.name == std::string_view("round")) {
      define_round(m, cls, entry.doc);
    } else {
      define(m, cls, entry);
    }
  }
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
