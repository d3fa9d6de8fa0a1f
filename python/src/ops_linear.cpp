// Products of matrices and tensors.
#include "mlx/ops/linear.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

mx::array tensordot(const mx::array& a, const mx::array& b, const py::object& axes,
                    mx::StreamOrDevice s) {
  if (PyIndex_Check(axes.ptr())) return mx::tensordot(a, b, to_int(axes, "[tensordot] axes"), s);
  Ints first, second;
  if (!PySequence_Check(axes.ptr()) || py::len(axes) != 2 || !load_ints(axes[py::int_(0)], first) ||
      !load_ints(axes[py::int_(1)], second)) {
    throw std::invalid_argument("[tensordot] axes must be an int or a list of two lists of ints.");
  }
  return mx::tensordot(a, b, narrow(first, "[tensordot] axes"), narrow(second, "[tensordot] axes"),
                       s);
}

std::vector<mx::array> operands_of(const py::args& args) { return to_vector(args, "einsum"); }

py::object einsum_path(const std::string& subscripts, const py::args& operands) {
  auto [path, text] = mx::einsum_path(subscripts, operands_of(operands));
  py::list steps;
  for (const auto& step : path) steps.append(ints_to_tuple(step));
  return py::make_tuple(steps, text);
}

void define_matmul(py::module_& m) {
  m.def(
      "matmul",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::matmul(a, b, s); },
      "a"_a, "b"_a, py::pos_only(), STREAM_KEYWORD,
      "The product of matrices, broadcast over leading axes.");
  m.def(
      "addmm",
      [](const mx::array& c, const mx::array& a, const mx::array& b, float alpha, float beta,
         StreamArg s) { return mx::addmm(c, a, b, alpha, beta, s); },
      "c"_a, "a"_a, "b"_a, py::pos_only(), "alpha"_a = 1.0f, "beta"_a = 1.0f, STREAM_KEYWORD,
      "alpha * (a @ b) + beta * c.");
  m.def(
      "inner",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::inner(a, b, s); }, "a"_a,
      "b"_a, py::pos_only(), STREAM_KEYWORD, "Sums of products over the last axes.");
  m.def(
      "outer",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::outer(a, b, s); }, "a"_a,
      "b"_a, py::pos_only(), STREAM_KEYWORD,
      "The product of every element of a with every one of b.");
  m.def(
      "vecdot",
      [](const mx::array& a, const mx::array& b, int axis, StreamArg s) {
        return mx::vecdot(a, b, axis, s);
      },
      "a"_a, "b"_a, py::pos_only(), py::kw_only(), "axis"_a = -1, "stream"_a = py::none(),
      "The dot product along an axis.");
  m.def(
      "kron", [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::kron(a, b, s); },
      "a"_a, "b"_a, STREAM_KEYWORD, "The Kronecker product.");
}

}  // namespace

void init_ops_linear(py::module_& m, ArrayClass&) {
  define_matmul(m);
  m.def(
      "tensordot",
      [](const mx::array& a, const mx::array& b, const py::object& axes, StreamArg s) {
        return tensordot(a, b, axes, s);
      },
      "a"_a, "b"_a, py::pos_only(), "axes"_a = 2, STREAM_KEYWORD,
      "Sums of products over several axes.");
  m.def(
      "einsum",
      [](const std::string& subscripts, const py::args& operands, StreamArg s) {
        return mx::einsum(subscripts, operands_of(operands), s);
      },
      "subscripts"_a, STREAM_KEYWORD, "Sums of products in Einstein's notation.");
  m.def("einsum_path", &einsum_path, "subscripts"_a,
        "The order of products that einsum takes, and its description.");
}
