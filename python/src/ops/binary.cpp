// Elementwise operations of two arrays or scalars.
#include "mlx/ops/binary.h"

#include <algorithm>
#include <string_view>

#include "docs/docs.h"
#include "mlx/ops/indexing.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

using Binary = mx::array (*)(const mx::array&, const mx::array&, mx::StreamOrDevice);

struct BinaryEntry {
  const char* name;
  Binary function;
  const char* doc;
};

const BinaryEntry kBinaryFunctions[] = {
#define MLX_BINARY(Class, function, types, on_double, doc) {#function, &mx::function, doc},
#include "mlx/primitives/elementwise.def"
    // Functions composed of others.
    {"floor_divide", &mx::floor_divide, "The quotient, rounded down for integers."},
    {"logical_xor", &mx::logical_xor, "Whether exactly one of the elements is true."},
};

// These take arrays only by position and `stream` only by name; the others take all three either
// way.
constexpr std::string_view kPositional[] = {"logical_and", "logical_or", "logical_xor", "logaddexp",
                                            "arctan2",     "power",      "minimum",     "maximum"};

// Logical operations take any number of Python, as they only ask whether it is zero.
ArrayLike as_truth(const ArrayLike& operand) {
  const bool is_number = PyLong_Check(operand.value.ptr()) || PyFloat_Check(operand.value.ptr());
  return is_number ? ArrayLike{py::bool_(operand.value)} : operand;
}

void define_binary(py::module_& m, const BinaryEntry& entry) {
  const bool is_logical = std::string_view(entry.name).starts_with("logical_");
  auto call = [function = entry.function, is_logical](const ArrayLike& a, const ArrayLike& b,
                                                      StreamArg s) {
    auto [x, y] = is_logical ? to_arrays(as_truth(a), as_truth(b)) : to_arrays(a, b);
    return function(x, y, s);
  };
  const std::string doc = binary_doc(entry.doc);
  if (std::ranges::find(kPositional, entry.name) != std::end(kPositional)) {
    m.def(entry.name, call, "a"_a, "b"_a, py::pos_only(), STREAM_KEYWORD, doc.c_str());
  } else {
    m.def(entry.name, call, "a"_a, "b"_a, "stream"_a = py::none(), doc.c_str());
  }
}

void define_comparisons(py::module_& m) {
  m.def(
      "array_equal",
      [](const ArrayLike& a, const ArrayLike& b, bool equal_nan, StreamArg s) {
        auto [x, y] = to_arrays(a, b);
        return mx::array_equal(x, y, equal_nan, s);
      },
      "a"_a, "b"_a, "equal_nan"_a = false, "stream"_a = py::none(),
      "Whether two arrays have the same shape and elements.");
  m.def(
      "allclose",
      [](const ArrayLike& a, const ArrayLike& b, double rtol, double atol, bool equal_nan,
         StreamArg s) {
        auto [x, y] = to_arrays(a, b);
        return mx::allclose(x, y, rtol, atol, equal_nan, s);
      },
      "a"_a, "b"_a, py::pos_only(), "rtol"_a = 1e-5, "atol"_a = 1e-8, py::kw_only(),
      "equal_nan"_a = false, "stream"_a = py::none(),
      "Whether |a - b| <= atol + rtol * |b| holds everywhere.");
  m.def(
      "isclose",
      [](const ArrayLike& a, const ArrayLike& b, double rtol, double atol, bool equal_nan,
         StreamArg s) {
        auto [x, y] = to_arrays(a, b);
        return mx::isclose(x, y, rtol, atol, equal_nan, s);
      },
      "a"_a, "b"_a, py::pos_only(), "rtol"_a = 1e-5, "atol"_a = 1e-8, py::kw_only(),
      "equal_nan"_a = false, "stream"_a = py::none(), "Where |a - b| <= atol + rtol * |b| holds.");
}

}  // namespace

void init_ops_binary(py::module_& m, ArrayClass&) {
  for (const BinaryEntry& entry : kBinaryFunctions) define_binary(m, entry);
  m.def(
      "divmod",
      [](const ArrayLike& a, const ArrayLike& b, StreamArg s) {
        auto [x, y] = to_arrays(a, b);
        return mx::divmod(x, y, s);
      },
      "a"_a, "b"_a, "stream"_a = py::none(),
      "divmod(a: scalar | array, b: scalar | array, stream: StreamOrDevice = None)"
      " -> list[array]\n\n"
      "The pair of floor_divide and remainder.\n\n"
      "Args:\n"
      "    a: The dividends.\n"
      "    b: The divisors. Both are broadcast to one shape and converted to one type.\n\n"
      "Returns:\n"
      "    The quotients and what remains.");
  define_comparisons(m);
}
