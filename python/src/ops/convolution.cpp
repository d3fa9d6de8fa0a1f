// Convolutions.
#include "mlx/ops/convolution.h"

#include <string>

#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

// The variable parts of the docstrings, by the number of spatial axes.
struct Form {
  int spatial;
  const char* numbers;  // the type of an argument that has one number for each axis
  const char* extents;
  const char* example;
  const char* transposed_example;
};

constexpr Form kForms[] = {
    {1, "int", "L",
     "    >>> x = mx.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1)\n"
     "    >>> mx.conv1d(x, mx.ones((1, 3, 1))).flatten()\n"
     "    array([6, 9], dtype=float32)",
     "    >>> x = mx.array([1.0, 2.0]).reshape(1, 2, 1)\n"
     "    >>> mx.conv_transpose1d(x, mx.ones((1, 2, 1)), stride=2).flatten()\n"
     "    array([1, 1, 2, 2], dtype=float32)"},
    {2, "int | tuple[int, int]", "H, W",
     "    >>> x, w = mx.ones((8, 32, 32, 3)), mx.ones((16, 3, 3, 3))\n"
     "    >>> mx.conv2d(x, w, stride=2, padding=1).shape\n"
     "    (8, 16, 16, 16)",
     "    >>> x, w = mx.ones((8, 16, 16, 16)), mx.ones((3, 4, 4, 16))\n"
     "    >>> mx.conv_transpose2d(x, w, stride=2, padding=1).shape\n"
     "    (8, 32, 32, 3)"},
    {3, "int | tuple[int, int, int]", "D, H, W",
     "    >>> x, w = mx.ones((1, 8, 8, 8, 2)), mx.ones((4, 3, 3, 3, 2))\n"
     "    >>> mx.conv3d(x, w).shape\n"
     "    (1, 6, 6, 6, 4)",
     "    >>> x, w = mx.ones((1, 6, 6, 6, 4)), mx.ones((2, 3, 3, 3, 4))\n"
     "    >>> mx.conv_transpose3d(x, w).shape\n"
     "    (1, 8, 8, 8, 2)"},
};

std::string argument(const char* name, const Form& form, const char* otherwise) {
  return std::string(", ") + name + ": " + form.numbers + " = " + otherwise;
}

std::string arrays_doc(const Form& form) {
  return std::string("\n\nArgs:\n    input: An array of shape (N, ") + form.extents +
         ", C).\n    weight: The kernels, of shape (O, K..., C / groups) with as many K as spatial "
         "axes.\n";
}

std::string doc(const Form& form) {
  return "conv" + std::to_string(form.spatial) + "d(input: array, weight: array, /" +
         argument("stride", form, "1") + argument("padding", form, "0") +
         argument("dilation", form, "1") +
         ", groups: int = 1, *, stream: StreamOrDevice = None) -> array\n\n"
         "Convolves over " +
         std::to_string(form.spatial) + (form.spatial == 1 ? " spatial axis" : " spatial axes") +
         ": sums products of kernels, not flipped, with what lies under them." + arrays_doc(form) +
         "    stride: How far a kernel moves from one result to the next.\n"
         "    padding: How many zeros stand at both ends of each spatial axis.\n"
         "    dilation: The distance between neighbouring elements of a kernel.\n"
         "    groups: How many groups the channels of both sides are divided into. Each group of "
         "the "
         "result\n        sees one group of the input.\n\n"
         "Returns:\n    The sums, of shape (N, " +
         form.extents +
         ", O) with the extents (n + 2 * padding - dilation * (k - 1) - 1) // stride "
         "+ 1.\n\nRaises:\n    ValueError: If shapes do not match, a kernel is longer than the "
         "padded input, or the type is\n        not a floating one.\n\nExample:\n" +
         form.example;
}

std::string transposed_doc(const Form& form) {
  return "conv_transpose" + std::to_string(form.spatial) + "d(input: array, weight: array, /" +
         argument("stride", form, "1") + argument("padding", form, "0") +
         argument("dilation", form, "1") + argument("output_padding", form, "0") +
         ", groups: int = 1, *, stream: StreamOrDevice = None) -> array\n\n"
         "Adds up kernels, each multiplied with an element of the input: the transpose of a "
         "convolution." +
         arrays_doc(form) +
         "    stride: How far a kernel moves from one element of the input to the next.\n"
         "    padding: How many results are left out at both ends of each spatial axis.\n"
         "    dilation: The distance between neighbouring elements of a kernel.\n"
         "    output_padding: How many results are added at the high end of each spatial axis.\n"
         "    groups: How many groups the channels of both sides are divided into.\n\n"
         "Returns:\n    The sums, of shape (N, " +
         form.extents +
         ", O) with the extents (n - 1) * stride - 2 * padding + dilation * (k - 1) +\n    "
         "output_padding + 1.\n\nRaises:\n    ValueError: If shapes do not match, or the type is "
         "not a floating one.\n\nExample:\n" +
         form.transposed_example;
}

const char* const kGeneralDoc =
    R"(conv_general(input: array, weight: array, /, stride: int | Sequence[int] = 1, padding: int | Sequence[int] | tuple[Sequence[int], Sequence[int]] = 0, kernel_dilation: int | Sequence[int] = 1, input_dilation: int | Sequence[int] = 1, groups: int = 1, flip: bool = False, *, stream: StreamOrDevice = None) -> array

Convolves over one to three spatial axes.

Args:
    input: An array of shape (N, spatial..., C).
    weight: The kernels, of shape (O, K..., C / groups) with as many K as spatial axes.
    stride: How far a kernel moves from one result to the next.
    padding: How many zeros stand at the ends of each spatial axis; negative ones take elements away.
        A tuple of two lists has those of the low and of the high ends.
    kernel_dilation: The distance between neighbouring elements of a kernel.
    input_dilation: The distance between neighbouring elements of the input, with zeros between them.
    groups: How many groups the channels of both sides are divided into.
    flip: Whether kernels are flipped along their spatial axes.

Returns:
    The sums, of shape (N, spatial..., O).

Raises:
    ValueError: If shapes do not match, a kernel is longer than the padded input, or the type is not a
        floating one.

Example:
    >>> x, w = mx.ones((2, 8, 8, 4)), mx.ones((6, 3, 3, 4))
    >>> mx.conv_general(x, w, padding=([0, 1], [2, 1])).shape
    (2, 8, 8, 6))";

const char* const kConvolveDoc =
    R"(convolve(a: array, v: array, /, mode: str = 'full', *, stream: StreamOrDevice = None) -> array

Convolves two vectors, as NumPy does.

Args:
    a: A vector of floating point numbers.
    v: Another one. The shorter one is flipped and moved over the longer one.
    mode: "full" for all sums that there are, "same" for the middle ones, as many as the longer vector
        has elements, or "valid" for those in which the shorter one lies within the longer one.

Returns:
    The sums.

Raises:
    ValueError: If an array is empty or no vector, or for another mode.

Example:
    >>> mx.convolve(mx.array([1.0, 2.0, 3.0]), mx.array([1.0, 1.0]))
    array([1, 3, 5, 3], dtype=float32))";

std::vector<int> numbers(const std::string& op, const char* argument, const Ints& values) {
  return narrow(values, ("[" + op + "] " + argument).c_str());
}

void define_form(py::module_& m, const Form& form) {
  const int spatial = form.spatial;
  const std::string name = "conv" + std::to_string(spatial) + "d";
  m.def(
      name.c_str(),
      [name, spatial](const mx::array& input, const mx::array& weight, const Ints& stride,
                      const Ints& padding, const Ints& dilation, int groups, StreamArg s) {
        const auto ends = numbers(name, "padding", padding);
        return mx::detail::convolution(name.c_str(), spatial, input, weight,
                                       numbers(name, "stride", stride), ends, ends,
                                       numbers(name, "dilation", dilation), {}, groups, false, s);
      },
      "input"_a, "weight"_a, py::pos_only(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
      "groups"_a = 1, STREAM_KEYWORD, doc(form).c_str());

  const std::string transposed = "conv_transpose" + std::to_string(spatial) + "d";
  m.def(
      transposed.c_str(),
      [transposed, spatial](const mx::array& input, const mx::array& weight, const Ints& stride,
                            const Ints& padding, const Ints& dilation, const Ints& output_padding,
                            int groups, StreamArg s) {
        return mx::detail::transposed_convolution(
            transposed.c_str(), spatial, input, weight, numbers(transposed, "stride", stride),
            numbers(transposed, "padding", padding), numbers(transposed, "dilation", dilation),
            numbers(transposed, "output_padding", output_padding), groups, s);
      },
      "input"_a, "weight"_a, py::pos_only(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
      "output_padding"_a = 0, "groups"_a = 1, STREAM_KEYWORD, transposed_doc(form).c_str());
}

// The low and the high ends: one list for both, or a tuple of two lists.
std::pair<std::vector<int>, std::vector<int>> padding_of(const py::object& padding) {
  Ints both, low, high;
  if (load_ints(padding, both)) {
    const auto ends = narrow(both, "[conv_general] padding");
    return {ends, ends};
  }
  if (!PySequence_Check(padding.ptr()) || py::len(padding) != 2 ||
      !load_ints(padding[py::int_(0)], low) || !load_ints(padding[py::int_(1)], high)) {
    throw std::invalid_argument(
        "[conv_general] padding must be an int, a list of ints or a tuple of two lists of ints.");
  }
  return {narrow(low, "[conv_general] padding"), narrow(high, "[conv_general] padding")};
}

mx::array conv_general(const mx::array& input, const mx::array& weight, const Ints& stride,
                       const py::object& padding, const Ints& kernel_dilation,
                       const Ints& input_dilation, int groups, bool flip, StreamArg s) {
  const auto [low, high] = padding_of(padding);
  return mx::conv_general(input, weight, narrow(stride, "[conv_general] stride"), low, high,
                          narrow(kernel_dilation, "[conv_general] kernel_dilation"),
                          narrow(input_dilation, "[conv_general] input_dilation"), groups, flip, s);
}

}  // namespace

void init_ops_convolution(py::module_& m, ArrayClass&) {
  for (const auto& form : kForms) define_form(m, form);
  m.def("conv_general", &conv_general, "input"_a, "weight"_a, py::pos_only(), "stride"_a = 1,
        "padding"_a = 0, "kernel_dilation"_a = 1, "input_dilation"_a = 1, "groups"_a = 1,
        "flip"_a = false, STREAM_KEYWORD, kGeneralDoc);
  m.def(
      "convolve",
      [](const mx::array& a, const mx::array& v, const std::string& mode, StreamArg s) {
        return mx::convolve(a, v, mode, s);
      },
      "a"_a, "v"_a, py::pos_only(), "mode"_a = "full", STREAM_KEYWORD, kConvolveDoc);
}
