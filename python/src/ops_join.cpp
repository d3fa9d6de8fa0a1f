// Operations that join, split, repeat and pad arrays.
#include <stdexcept>

#include "convert.h"
#include "mlx/ops.h"
#include "mlx/ops/shape.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

// Element counts known only as values: the positions are computed on the host.
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
  mx::Shape places = to_shape(sections, "[split] indices_or_sections");
  if (sections.is_scalar) return to_list(mx::split(a, places[0], axis, s));
  return to_list(mx::split(a, places, axis, s));
}

using PadWidths = std::vector<std::pair<int, int>>;

// int | (before, after) | [(before, after), ...]
PadWidths pad_widths(const mx::array& a, const py::object& width) {
  Ints ints;
  PadWidths result;
  if (load_ints(width, ints)) {
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

template <typename Many>
py::object at_least(const py::args& arrays, Many many, mx::StreamOrDevice s) {
  std::vector<mx::array> results = many(to_vector(arrays, "atleast_nd"), s);
  if (results.size() == 1) return py::cast(results[0]);
  return to_list(results);
}

void define_joins(py::module_& m) {
  auto concatenate = [](const py::object& arrays, const OptionalInt& axis, StreamArg s) {
    auto inputs = to_vector(arrays, "concatenate");
    return !axis ? mx::concatenate(std::move(inputs), s)
                 : mx::concatenate(std::move(inputs), *axis, s);
  };
  m.def("concatenate", concatenate, "arrays"_a, "axis"_a = 0, STREAM_KEYWORD,
        "Joins arrays along an existing axis.");
  m.def("concat", concatenate, "arrays"_a, "axis"_a = 0, STREAM_KEYWORD,
        "Joins arrays along an existing axis.");
  m.def(
      "stack",
      [](const py::object& arrays, const OptionalInt& axis, StreamArg s) {
        auto inputs = to_vector(arrays, "stack");
        return !axis ? mx::stack(inputs, s) : mx::stack(inputs, *axis, s);
      },
      "arrays"_a, "axis"_a = 0, STREAM_KEYWORD, "Joins arrays of one shape along a new axis.");
  m.def(
      "unstack",
      [](const mx::array& x, int axis, StreamArg s) { return to_list(mx::unstack(x, axis, s)); },
      "x"_a, py::pos_only(), py::kw_only(), "axis"_a = 0, "stream"_a = py::none(),
      "The slices of an array along an axis.");
  m.def(
      "meshgrid",
      [](const py::args& arrays, const py::object& sparse, const char* indexing, StreamArg s) {
        std::string order = indexing ? indexing : "xy";
        bool is_sparse = !sparse.is_none() && to_bool(sparse);
        return to_tuple(mx::meshgrid(to_vector(arrays, "meshgrid"), is_sparse, order, s));
      },
      py::kw_only(), "sparse"_a = false, "indexing"_a = "xy", "stream"_a = py::none(),
      "Coordinate arrays of a grid.");
  m.def(
      "broadcast_arrays",
      [](const py::args& arrays, StreamArg s) {
        return to_tuple(mx::broadcast_arrays(to_vector(arrays, "broadcast_arrays"), s));
      },
      STREAM_KEYWORD, "The arrays, all broadcast to one shape.");
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
      "The shape that all the shapes broadcast to.");
}

void define_splits(py::module_& m, ArrayClass& cls) {
  auto call = [](const mx::array& a, const Ints& sections, int axis, StreamArg s) {
    return split(a, sections, axis, s);
  };
  const char* doc = "Splits along an axis into equal parts, or at indices.";
  m.def("split", call, "a"_a, py::pos_only(), "indices_or_sections"_a, "axis"_a = 0, STREAM_KEYWORD,
        doc);
  cls.def("split", call, "indices_or_sections"_a, "axis"_a = 0, STREAM_KEYWORD, doc);
}

mx::array roll(const mx::array& a, const Ints& shift, const Axes& axis, mx::StreamOrDevice s) {
  mx::Shape shifts = to_shape(shift, "[roll] shift");
  if (!axis.value) return shift.is_scalar ? mx::roll(a, shifts[0], s) : mx::roll(a, shifts, s);
  return shift.is_scalar ? mx::roll(a, shifts[0], *axis.value, s)
                         : mx::roll(a, shifts, *axis.value, s);
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
      "array"_a, "repeats"_a, "axis"_a = py::none(), STREAM_KEYWORD,
      "Repeats elements along an axis; `repeats` is one number or an array with a number for each "
      "element.");
  m.def(
      "tile",
      [](const mx::array& a, const Ints& reps, StreamArg s) {
        return mx::tile(a, narrow(reps, "[tile] reps"), s);
      },
      "a"_a, "reps"_a, py::pos_only(), STREAM_KEYWORD, "Repeats the whole array along its axes.");
  m.def(
      "roll",
      [](const mx::array& a, const Ints& shift, const Axes& axis, StreamArg s) {
        return roll(a, shift, axis, s);
      },
      "a"_a, "shift"_a, "axis"_a = py::none(), py::pos_only(), STREAM_KEYWORD,
      "Moves elements along axes, those that leave come back in.");
  m.def(
      "pad",
      [](const mx::array& a, const py::object& width, const std::string& mode,
         const ArrayLike& value, StreamArg s) {
        return mx::pad(a, pad_widths(a, width), to_array(value, a.dtype()), mode, s);
      },
      "a"_a, "pad_width"_a, "mode"_a = "constant", "constant_values"_a = 0, STREAM_KEYWORD,
      "Adds elements before and after each axis; modes are constant, edge, reflect and symmetric.");
  using Many = std::vector<mx::array> (*)(const std::vector<mx::array>&, mx::StreamOrDevice);
  const char* doc = "The arrays, with axes of length 1 added where they have too few.";
  m.def(
      "atleast_1d",
      [](const py::args& a, StreamArg s) {
        return at_least(a, static_cast<Many>(&mx::atleast_1d), s);
      },
      STREAM_KEYWORD, doc);
  m.def(
      "atleast_2d",
      [](const py::args& a, StreamArg s) {
        return at_least(a, static_cast<Many>(&mx::atleast_2d), s);
      },
      STREAM_KEYWORD, doc);
  m.def(
      "atleast_3d",
      [](const py::args& a, StreamArg s) {
        return at_least(a, static_cast<Many>(&mx::atleast_3d), s);
      },
      STREAM_KEYWORD, doc);
}
