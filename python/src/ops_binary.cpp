// Elementwise operations of two arrays or scalars.
#include "mlx/ops/binary.h"
#include "mlx/ops/indexing.h"
#include "ops.h"

using namespace pybind11::literals;

namespace {

using Binary = mx::array (*)(const mx::array&, const mx::array&, mx::StreamOrDevice);

struct Entry {
  const char* name;
  Binary function;
  const char* doc;
};

// Arguments by name or place, `stream` as the third.
const Entry kPlain[] = {
    {"add", &mx::add, "The sum of two arrays."},
    {"subtract", &mx::subtract, "The difference of two arrays."},
    {"multiply", &mx::multiply, "The product of two arrays, element by element."},
    {"divide", &mx::divide, "The quotient of two arrays; that of integers is float32."},
    {"floor_divide", &mx::floor_divide, "The quotient, rounded down for integers."},
    {"remainder", &mx::remainder, "What remains after division; it has the divisor's sign."},
    {"equal", &mx::equal, "Whether elements are equal."},
    {"not_equal", &mx::not_equal, "Whether elements differ."},
    {"less", &mx::less, "Whether elements of a are below those of b."},
    {"less_equal", &mx::less_equal, "Whether elements of a are not above those of b."},
    {"greater", &mx::greater, "Whether elements of a are above those of b."},
    {"greater_equal", &mx::greater_equal, "Whether elements of a are not below those of b."},
    {"bitwise_and", &mx::bitwise_and, "The bits that both elements have."},
    {"bitwise_or", &mx::bitwise_or, "The bits that either element has."},
    {"bitwise_xor", &mx::bitwise_xor, "The bits that one of the elements has."},
    {"left_shift", &mx::left_shift, "The bits of a, shifted left by b."},
    {"right_shift", &mx::right_shift, "The bits of a, shifted right by b."},
};

// Arguments by place only, `stream` by name only.
const Entry kPositional[] = {
    {"logical_and", &mx::logical_and, "Whether both elements are true."},
    {"logical_or", &mx::logical_or, "Whether one of the elements is true."},
    {"logical_xor", &mx::logical_xor, "Whether exactly one of the elements is true."},
    {"logaddexp", &mx::logaddexp, "log(exp(a) + exp(b)), without overflow."},
    {"arctan2", &mx::arctan2, "The angle of the point (b, a)."},
    {"power", &mx::power, "a to the power of b."},
    {"minimum", &mx::minimum, "The smaller of two elements."},
    {"maximum", &mx::maximum, "The larger of two elements."},
};

auto caller(Binary function) {
  return [function](const ArrayLike& a, const ArrayLike& b, StreamArg s) {
    auto [x, y] = to_arrays(a, b);
    return function(x, y, s);
  };
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
  for (const Entry& e : kPlain) {
    m.def(e.name, caller(e.function), "a"_a, "b"_a, "stream"_a = py::none(), e.doc);
  }
  for (const Entry& e : kPositional) {
    m.def(e.name, caller(e.function), "a"_a, "b"_a, py::pos_only(), STREAM_KEYWORD, e.doc);
  }
  m.def(
      "divmod",
      [](const ArrayLike& a, const ArrayLike& b, StreamArg s) {
        auto [x, y] = to_arrays(a, b);
        return to_tuple(mx::divmod(x, y, s));
      },
      "a"_a, "b"_a, "stream"_a = py::none(), "The pair of floor_divide and remainder.");
  define_comparisons(m);
}
