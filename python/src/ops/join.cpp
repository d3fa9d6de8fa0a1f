// Operations that concatenate, split, repeat and pad arrays.
#include <pybind11/stl.h>

#include <stdexcept>

#include "convert/convert.h"
#include "convert/optional_int.h"
#include "mlx/ops.h"
#include "mlx/ops/shape.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kConcatenateDoc =
    R"(concatenate(arrays: Sequence[array], axis: int | None = 0, *, stream: StreamOrDevice = None) -> array

Joins arrays along an existing axis.

Args:
    arrays: The arrays. Their shapes agree but for the axis.
    axis: The axis. None means that the arrays are flattened first.

Returns:
    The joined array, of the common type.

Example:
    >>> mx.concatenate([mx.array([1, 2]), mx.array([3])])
    array([1, 2, 3], dtype=int32))";

const char* const kConcatDoc =
    R"(concat(arrays: Sequence[array], axis: int | None = 0, *, stream: StreamOrDevice = None) -> array

Joins arrays along an existing axis. The same as `concatenate`.

Args:
    arrays: The arrays. Their shapes agree but for the axis.
    axis: The axis. None means that the arrays are flattened first.

Returns:
    The joined array, of the common type.)";

const char* const kStackDoc =
    R"(stack(arrays: Sequence[array], axis: int | None = 0, *, stream: StreamOrDevice = None) -> array

Joins arrays of one shape along a new axis.

Args:
    arrays: The arrays, all of one shape.
    axis: The place of the new axis in the result. None means 0.

Returns:
    The joined array, with one axis more than each of `arrays`.

Example:
    >>> mx.stack([mx.array([1, 2]), mx.array([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]], dtype=int32))";

const char* const kUnstackDoc =
    R"(unstack(x: array, /, *, axis: int = 0, stream: StreamOrDevice = None) -> tuple[array, ...]

Takes an array apart along an axis.

Args:
    x: The array.
    axis: The axis to take apart.

Returns:
    The slices, without the axis.)";

const char* const kMeshgridDoc =
    R"(meshgrid(*arrays: array, sparse: bool | None = False, indexing: str | None = 'xy', stream: StreamOrDevice = None) -> tuple[array, ...]

Makes arrays of coordinates for all points of a grid.

Args:
    *arrays: The coordinates along each axis, of shape (n,) each.
    sparse: Whether each result keeps length 1 along the axes of the other coordinates.
    indexing: 'xy' puts the first array along the columns, 'ij' along the rows.

Returns:
    One array for each argument.

Example:
    >>> x, y = mx.meshgrid(mx.arange(2), mx.arange(3), indexing="ij")
    >>> x
    array([[0, 0, 0],
           [1, 1, 1]], dtype=int32))";

const char* const kBroadcastArraysDoc =
    R"(broadcast_arrays(*arrays: array, stream: StreamOrDevice = None) -> list[array]

Broadcasts arrays to their common shape.

Args:
    *arrays: The arrays.

Returns:
    The arrays, all of one shape.)";

const char* const kBroadcastShapesDoc =
    R"(broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]

Finds the shape that all shapes broadcast to.

Args:
    *shapes: The shapes.

Returns:
    The common shape.

Raises:
    ValueError: If there is no such shape.

Example:
    >>> mx.broadcast_shapes((3, 1), (4,))
    (3, 4))";

const char* const kSplitDoc = R"(Splits an array along an axis.

Args:
    indices_or_sections: The number of equal parts, or the indices at which parts begin.
    axis: The axis to split.

Returns:
    The parts.

Raises:
    ValueError: If the axis has no such number of equal parts.

Example:
    >>> [part.tolist() for part in mx.split(mx.arange(5), [2, 3])]
    [[0, 1], [2], [3, 4]])";

const char* const kRepeatDoc =
    R"(repeat(array: scalar | array, repeats: int | array | Sequence[int], axis: int | None = None, *, stream: StreamOrDevice = None) -> array

Repeats each element along an axis.

Args:
    array: The input array.
    repeats: How often: one number for all, or one for each element along the axis.
    axis: The axis. None means the axis of the flattened array.

Returns:
    The repeated elements. Only the extent of the axis differs from that of `array`.

Example:
    >>> mx.repeat(mx.array([1, 2]), 2)
    array([1, 1, 2, 2], dtype=int32))";

const char* const kTileDoc = R"(Repeats the whole array along its axes.

Args:
    reps: How often along each axis; an int means the last axis. Axes of length 1 are added in front
        where `reps` has more numbers than `a` has axes.

Returns:
    The repeated array.

Example:
    >>> mx.tile(mx.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32))";

const char* const kRollDoc =
    R"(Moves elements along axes. Those that leave at the end come back at the start.

Args:
    shift: How far, for all axes or for each of `axis`. Several shifts along one axis add up.
    axis: The axes. None means the axis of the flattened array.

Returns:
    The moved elements, of the shape of `a`.

Example:
    >>> mx.roll(mx.arange(4), 1)
    array([3, 0, 1, 2], dtype=int32))";

const char* const kPadDoc =
    R"(pad(a: array, pad_width: int | tuple[int] | tuple[int, int] | Sequence[tuple[int, int]], mode: Literal['constant', 'edge', 'reflect', 'symmetric'] = 'constant', constant_values: scalar | array = 0, *, stream: StreamOrDevice = None) -> array

Adds elements before and after each axis.

Args:
    pad_width: How many elements: one number, a pair (before, after), or a pair for each axis.
    mode: What to add: 'constant' adds `constant_values`, 'edge' repeats the outermost element,
        'reflect' mirrors the array without that element, 'symmetric' with it.
    constant_values: The value for the mode 'constant'.

Returns:
    The array with longer axes.

Example:
    >>> mx.pad(mx.array([1, 2]), (1, 2))
    array([0, 1, 2, 0, 0], dtype=int32)
    >>> mx.pad(mx.array([[1, 2]]), [(0, 0), (1, 1)], mode="edge")
    array([[1, 1, 2, 2]], dtype=int32))";

// The function `name` gives arrays at least `axes` axes.
std::string at_least_doc(const std::string& name, const std::string& axes) {
  return name + "(*arys: scalar | array, stream: StreamOrDevice = None) -> array | list[array]" +
         R"(

Gives arrays at least )" +
         axes + R"(.

Args:
    *arys: The arrays.

Returns:
    The array, with axes of length 1 added where it has too few. A list if several are given.)";
}

// The number of elements depends on the values, so the positions are computed on the host.
mx::array repeat_by_array(const mx::array& a, mx::array repeats, std::optional<int> axis,
                          mx::StreamOrDevice s) {
  mx::array source = axis ? a : mx::flatten(a, s);
  int dim = axis.value_or(0);
  dim = mx::normalize_axis_index(dim, static_cast<int>(source.ndim()), "repeat");
  if (!mx::issubdtype(repeats.dtype(), mx::integer)) {
    throw std::invalid_argument("[repeat] The repeats must be integers.");
  }
  if (repeats.ndim() > 1 ||
      (repeats.size() != 1 && static_cast<int>(repeats.size()) != source.shape(dim))) {
    throw std::invalid_argument("[repeat] The repeats must be one integer or a list of " +
                                std::to_string(source.shape(dim)) +
                                " integers, one for each element along the axis.");
  }
  repeats = mx::broadcast_to(mx::astype(mx::flatten(repeats), mx::int64), {source.shape(dim)}, s);
  repeats = mx::contiguous(repeats, false, s);
  ensure_available(repeats);
  std::vector<int32_t> positions;
  const int64_t* counts = repeats.data<int64_t>();
  for (int i = 0; i < source.shape(dim); ++i) {
    if (counts[i] < 0) throw std::invalid_argument("[repeat] The repeats must not be negative.");
    positions.insert(positions.end(), counts[i], i);
  }
  mx::array indices(positions.data(), {static_cast<int>(positions.size())}, mx::int32);
  return mx::take(source, indices, dim, s);
}

mx::array repeat(const mx::array& a, const py::object& repeats, const OptionalInt& axis,
                 mx::StreamOrDevice s) {
  auto dim = axis.value;
  if (PyIndex_Check(repeats.ptr()) && !is_array(repeats)) {
    int n = to_int(repeats, "[repeat] repeats");
    return dim ? mx::repeat(a, n, *dim, s) : mx::repeat(a, n, s);
  }
  bool list = PyList_Check(repeats.ptr()) || PyTuple_Check(repeats.ptr());
  if (!list && !is_array_like(repeats)) {
    throw py::type_error("[repeat] The repeats must be an integer or an array of integers.");
  }
  mx::array counts = list ? mx::array(0) : to_array(repeats);
  if (list) {
    Ints ints;
    if (!load_ints(repeats, ints)) throw py::type_error("[repeat] The repeats must be integers.");
    counts = mx::array(ints.value.data(), {static_cast<int>(ints.value.size())}, mx::int64);
  }
  return repeat_by_array(a, std::move(counts), dim, s);
}

py::list split(const mx::array& a, const Ints& sections, int axis, mx::StreamOrDevice s) {
  mx::Shape places = narrow(sections, "[split] indices_or_sections");
  if (sections.is_scalar) return to_list(mx::split(a, places[0], axis, s));
  return to_list(mx::split(a, places, axis, s));
}

using PadWidths = std::vector<std::pair<int, int>>;

// int | (before, after) | [(before, after), ...]
PadWidths pad_widths(const mx::array& a, const py::object& width) {
  if (py::hasattr(width, "__array__")) return pad_widths(a, width.attr("tolist")());
  Ints ints;
  PadWidths result;
  if (load_ints(width, ints)) {
    if (ints.value.empty() && a.ndim() == 0) return result;
    if (ints.value.empty() || ints.value.size() > 2) {
      throw std::invalid_argument(
          "[pad] Expected an int, a pair of ints or a list of pairs as pad_width.");
    }
    auto sizes = narrow(ints, "[pad] pad_width");
    return PadWidths(a.ndim(), {sizes.front(), sizes.back()});
  }
  if (!PySequence_Check(width.ptr()))
    throw py::type_error("[pad] pad_width must be an int or a list of pairs of ints.");
  for (py::handle item : width) {
    Ints pair;
    if (!load_ints(item, pair) || pair.value.empty() || pair.value.size() > 2) {
      throw std::invalid_argument("[pad] Each entry of pad_width must be a pair of ints.");
    }
    auto sizes = narrow(pair, "[pad] pad_width");
    result.emplace_back(sizes.front(), sizes.back());
  }
  if (result.size() == 1 && a.ndim() > 1) result.resize(a.ndim(), result[0]);
  return result;
}

using AtLeast = std::vector<mx::array> (*)(const std::vector<mx::array>&, mx::StreamOrDevice);

void define_at_least(py::module_& m, const char* name, AtLeast many, const char* axes) {
  auto at_least = [many](const py::args& arrays, StreamArg s) -> py::object {
    std::vector<mx::array> results = many(to_vector(arrays, "atleast_nd"), s);
    if (results.size() == 1) return py::cast(results[0]);
    return to_list(results);
  };
  m.def(name, at_least, STREAM_KEYWORD, at_least_doc(name, axes).c_str());
}

void define_joins(py::module_& m) {
  auto concatenate = [](const py::object& arrays, const OptionalInt& axis, StreamArg s) {
    auto inputs = to_vector(arrays, "concatenate");
    return !axis ? mx::concatenate(std::move(inputs), s)
                 : mx::concatenate(std::move(inputs), *axis, s);
  };
  m.def("concatenate", concatenate, "arrays"_a, "axis"_a = 0, STREAM_KEYWORD, kConcatenateDoc);
  m.def("concat", concatenate, "arrays"_a, "axis"_a = 0, STREAM_KEYWORD, kConcatDoc);
  m.def(
      "stack",
      [](const py::object& arrays, const OptionalInt& axis, StreamArg s) {
        auto inputs = to_vector(arrays, "stack");
        return !axis ? mx::stack(inputs, s) : mx::stack(inputs, *axis, s);
      },
      "arrays"_a, "axis"_a = 0, STREAM_KEYWORD, kStackDoc);
  m.def(
      "unstack",
      [](const mx::array& x, int axis, StreamArg s) { return to_tuple(mx::unstack(x, axis, s)); },
      "x"_a, py::pos_only(), py::kw_only(), "axis"_a = 0, "stream"_a = py::none(), kUnstackDoc);
  m.def(
      "meshgrid",
      [](const py::args& arrays, const py::object& sparse, const char* indexing, StreamArg s) {
        std::string order = indexing ? indexing : "xy";
        bool is_sparse = !sparse.is_none() && to_bool(sparse);
        return to_tuple(mx::meshgrid(to_vector(arrays, "meshgrid"), is_sparse, order, s));
      },
      py::kw_only(), "sparse"_a = false, "indexing"_a = "xy", "stream"_a = py::none(),
      kMeshgridDoc);
  m.def(
      "broadcast_arrays",
      [](const py::args& arrays, StreamArg s) {
        return mx::broadcast_arrays(to_vector(arrays, "broadcast_arrays"), s);
      },
      STREAM_KEYWORD, kBroadcastArraysDoc);
  m.def(
      "broadcast_shapes",
      [](const py::args& shapes) {
        if (shapes.empty())
          throw std::invalid_argument("[broadcast_shapes] At least one shape is required.");
        mx::Shape result;
        for (py::handle shape : shapes) {
          Ints ints;
          if (!load_ints(shape, ints))
            throw py::type_error("[broadcast_shapes] Shapes must be sequences of integers.");
          result = mx::broadcast_shapes(result, to_shape(ints, "[broadcast_shapes] shape"));
        }
        return ints_to_tuple(result);
      },
      kBroadcastShapesDoc);
}

void define_splits(py::module_& m, ArrayClass& cls) {
  auto call = [](const mx::array& a, const Ints& sections, int axis, StreamArg s) {
    return split(a, sections, axis, s);
  };
  m.def("split", call, "a"_a, py::pos_only(), "indices_or_sections"_a, "axis"_a = 0, STREAM_KEYWORD,
        kSplitDoc);
  cls.def("split", call, "indices_or_sections"_a, "axis"_a = 0, STREAM_KEYWORD, kSplitDoc);
}

mx::array roll(const mx::array& a, const Ints& shift, const std::optional<Ints>& axis,
               mx::StreamOrDevice s) {
  const mx::Shape shifts = narrow(shift, "[roll] shift");
  if (!axis) return shift.is_scalar ? mx::roll(a, shifts[0], s) : mx::roll(a, shifts, s);
  const std::vector<int> axes = narrow(*axis, "[roll] axis");
  if (shift.is_scalar) return mx::roll(a, shifts[0], axes, s);
  return axis->is_scalar ? mx::roll(a, shifts, axes[0], s) : mx::roll(a, shifts, axes, s);
}

}  // namespace

void init_ops_join(py::module_& m, ArrayClass& cls) {
  define_joins(m);
  define_splits(m, cls);
  m.def(
      "repeat",
      [](const ArrayLike& a, const py::object& r, const OptionalInt& axis, StreamArg s) {
        return repeat(to_array(a), r, axis, s);
      },
      "array"_a, "repeats"_a, "axis"_a = py::none(), STREAM_KEYWORD, kRepeatDoc);
  m.def(
      "tile",
      [](const mx::array& a, const Ints& reps, StreamArg s) {
        return mx::tile(a, narrow(reps, "[tile] reps"), s);
      },
      "a"_a, "reps"_a, py::pos_only(), STREAM_KEYWORD, kTileDoc);
  m.def(
      "roll",
      [](const mx::array& a, const Ints& shift, const std::optional<Ints>& axis, StreamArg s) {
        return roll(a, shift, axis, s);
      },
      "a"_a, py::pos_only(), "shift"_a, "axis"_a = py::none(), STREAM_KEYWORD, kRollDoc);
  m.def(
      "pad",
      [](const mx::array& a, const py::object& width, const std::string& mode,
         const ArrayLike& value, StreamArg s) {
        return mx::pad(a, pad_widths(a, width), to_array(value, a.dtype()), mode, s);
      },
      "a"_a, "pad_width"_a, "mode"_a = "constant", "constant_values"_a = 0, STREAM_KEYWORD,
      kPadDoc);
  define_at_least(m, "atleast_1d", &mx::atleast_1d, "one axis");
  define_at_least(m, "atleast_2d", &mx::atleast_2d, "two axes");
  define_at_least(m, "atleast_3d", &mx::atleast_3d, "three axes");
}
