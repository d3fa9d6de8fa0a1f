// The operations on segments, with checks of their arguments.
#include <algorithm>

#include "mlx/utils.h"
#include "segments/offsets.h"
#include "segments/primitives.h"
#include "segments/segments.h"

namespace mlx_sample {

namespace {

Reduction reduction_of(const char* operation, const char* argument, const std::string& name) {
  const std::pair<const char*, Reduction> known[] = {{"sum", Reduction::Sum},
                                                     {"mean", Reduction::Mean},
                                                     {"max", Reduction::Max},
                                                     {"min", Reduction::Min},
                                                     {"prod", Reduction::Prod}};
  for (auto [text, reduction] : known) {
    if (name == text) {
      return reduction;
    }
  }
  refuse(operation, "Invalid " + std::string(argument) + " '" + name +
                        "': expected one of sum, mean, max, min, prod.");
}

// The type in which values are reduced, and the type of the result.
mx::Dtype value_type(const char* operation, const char* name, mx::Dtype dtype,
                     Reduction reduction) {
  if (mx::issubdtype(dtype, mx::inexact)) {
    if (dtype != mx::float32 && dtype != mx::float16 && dtype != mx::bfloat16) {
      refuse(operation, std::string(name) +
                            " must be float32, float16, bfloat16 or integers, but it is " +
                            mx::dtype_to_string(dtype) + ".");
    }
    return dtype;
  }
  if (reduction == Reduction::Mean) {
    return mx::float32;
  }
  if (dtype == mx::uint32 || dtype == mx::int64) {
    return dtype;
  }
  return dtype == mx::uint64 ? mx::int64 : mx::int32;
}

// (T, ...) -> (T, C)
mx::array as_rows(const mx::array& x, mx::StreamOrDevice s) {
  int columns = 1;
  for (size_t i = 1; i < x.ndim(); ++i) {
    columns *= x.shape(i);
  }
  return mx::reshape(x, {x.shape(0), columns}, s);
}

// (T, C) -> (T, ...), with the shape of `like` behind the first axis.
mx::array from_rows(const mx::array& rows, const mx::array& like, mx::StreamOrDevice s) {
  auto shape = like.shape();
  shape[0] = rows.shape(0);
  return mx::reshape(rows, std::move(shape), s);
}

void check_rows(const char* operation, const char* name, const mx::array& x) {
  if (x.ndim() == 0) {
    refuse(operation, std::string(name) + " must have at least one dimension, but it is a scalar.");
  }
}

mx::array reduce(const char* operation, const mx::array& x, const Segments& segments,
                 Reduction reduction, mx::StreamOrDevice s) {
  auto values = mx::astype(x, value_type(operation, "x", x.dtype(), reduction), s);
  return from_rows(reduce_rows(as_rows(values, s), segments, reduction, mx::to_stream(s)), x, s);
}

int largest(const mx::array& index) {
  auto top = mx::astype(mx::max(index), mx::int64);
  return static_cast<int>(std::min<int64_t>(top.item<int64_t>(), INT32_MAX - 1));
}

// For each element of src, flattened: the index of its target in the result.
mx::array flat_targets(const mx::array& index, int dim, int dim_size, mx::StreamOrDevice s) {
  int ndim = static_cast<int>(index.ndim());
  auto result = mx::array(0, mx::int32);
  int stride = 1;
  for (int axis = ndim - 1; axis >= 0; --axis) {
    mx::Shape along(ndim, 1);
    along[axis] = index.shape(axis);
    auto places = axis == dim ? mx::astype(index, mx::int32, s)
                              : mx::reshape(mx::arange(0, index.shape(axis), mx::int32, s),
                                            std::move(along), s);
    result = mx::add(result, mx::multiply(places, mx::array(stride, mx::int32), s), s);
    stride *= axis == dim ? dim_size : index.shape(axis);
  }
  return mx::flatten(result, s);
}

int size_of(const char* operation, const mx::array& index, std::optional<int> dim_size) {
  if (dim_size && *dim_size < 0) {
    refuse(operation,
           "Invalid dim_size " + std::to_string(*dim_size) + ": it must not be negative.");
  }
  return dim_size ? *dim_size : index.size() == 0 ? 0 : largest(index) + 1;
}

mx::array scatter_slices(const mx::array& values, const mx::array& index, int dim, int size,
                         Reduction how, mx::StreamOrDevice s) {
  auto [order, offsets] = group_rows(index, size, mx::to_stream(s));
  Segments segments{offsets, order, true};
  auto front = mx::moveaxis(values, dim, 0, s);
  auto reduced = reduce_rows(as_rows(front, s), segments, how, mx::to_stream(s));
  return mx::moveaxis(from_rows(reduced, front, s), 0, dim, s);
}

mx::array scatter_elements(const mx::array& values, const mx::array& index, int dim, int size,
                           Reduction how, mx::StreamOrDevice s) {
  auto shape = values.shape();
  shape[dim] = size;
  int64_t count = 1;
  for (int length : shape) {
    count *= length;
  }
  if (count >= INT32_MAX) {
    refuse("scatter", "The result would have " + std::to_string(count) +
                          " elements; with an index for every element it may have " +
                          std::to_string(INT32_MAX - 1) + ".");
  }
  auto [order, offsets] =
      group_rows(flat_targets(index, dim, size, s), static_cast<int>(count), mx::to_stream(s));
  Segments segments{offsets, order, true};
  auto flat = mx::reshape(values, {static_cast<int>(values.size()), 1}, s);
  return mx::reshape(reduce_rows(flat, segments, how, mx::to_stream(s)), std::move(shape), s);
}

}  // namespace

mx::array segment_reduce(const mx::array& x, const mx::array& lengths, const std::string& operation,
                         bool check, mx::StreamOrDevice s) {
  auto reduction = reduction_of("segment_reduce", "operation", operation);
  check_rows("segment_reduce", "x", x);
  LengthsArgument expected{"segment_reduce", "lengths", x.shape(0), "rows in x", !check};
  Segments segments{segment_offsets(lengths, expected), std::nullopt, false};
  return reduce("segment_reduce", x, segments, reduction, s);
}

mx::array indexed_segment_reduce(const mx::array& x, const mx::array& indices,
                                 const mx::array& lengths, const std::string& operation, bool check,
                                 mx::StreamOrDevice s) {
  const char* name = "indexed_segment_reduce";
  auto reduction = reduction_of(name, "operation", operation);
  check_rows(name, "x", x);
  auto rows = checked_indices(indices, {name, "indices", x.shape(0), !check});
  LengthsArgument expected{name, "lengths", rows.shape(0), "indices", !check};
  Segments segments{segment_offsets(lengths, expected), mx::astype(rows, mx::int32, s), false};
  return reduce(name, x, segments, reduction, s);
}

mx::array scatter(const mx::array& src, const mx::array& index, int dim,
                  std::optional<int> dim_size, const std::string& reduce, bool check,
                  mx::StreamOrDevice s) {
  auto how = reduction_of("scatter", "reduce", reduce);
  check_rows("scatter", "src", src);
  int axis = mx::normalize_axis_index(dim, static_cast<int>(src.ndim()), "scatter");
  bool elements = index.ndim() > 1;
  if (elements ? index.shape() != src.shape()
               : index.ndim() != 1 || index.shape(0) != src.shape(axis)) {
    refuse("scatter", "index must have shape (" + std::to_string(src.shape(axis)) +
                          ",), the length of src along dim, or src's shape " +
                          mx::shape_to_string(src.shape()) + ", but it has shape " +
                          mx::shape_to_string(index.shape()) + ".");
  }
  auto line = elements ? mx::flatten(index, s) : index;
  auto values = mx::astype(src, value_type("scatter", "src", src.dtype(), how), s);
  int size = size_of("scatter", line, dim_size);
  auto known = checked_indices(line, {"scatter", "index", size, !check});
  if (elements) {
    return scatter_elements(values, mx::reshape(known, src.shape(), s), axis, size, how, s);
  }
  return scatter_slices(values, known, axis, size, how, s);
}

mx::array repeat_interleave(const mx::array& x, const mx::array& repeats, std::optional<int> axis,
                            std::optional<int> total, bool check, mx::StreamOrDevice s) {
  const char* name = "repeat_interleave";
  auto source = axis ? x : mx::flatten(x, s);
  check_rows(name, "x", source);
  int dim = mx::normalize_axis_index(axis.value_or(0), static_cast<int>(source.ndim()), name);
  auto counts = repeats;
  if (repeats.size() == 1 && repeats.ndim() <= 1) {
    counts = mx::broadcast_to(mx::flatten(repeats, s), {source.shape(dim)}, s);
  }
  if (counts.ndim() != 1 || counts.shape(0) != source.shape(dim)) {
    refuse(name, "repeats must have one value or " + std::to_string(source.shape(dim)) +
                     ", the length of x along the axis, but it has shape " +
                     mx::shape_to_string(repeats.shape()) + ".");
  }
  if (total && *total < 0) {
    refuse(name, "Invalid total " + std::to_string(*total) + ": it must not be negative.");
  }
  int64_t rows = total ? *total : sum_of_lengths(counts, name, "repeats", !check);
  if (rows > INT32_MAX) {
    refuse(name, "Invalid repeats: the result would have " + std::to_string(rows) +
                     " slices, and at most " + std::to_string(INT32_MAX) + " are allowed.");
  }
  LengthsArgument expected{name, "repeats", rows, "slices of the result, as total says", !check};
  Segments segments{segment_offsets(counts, expected), std::nullopt, false};
  auto front = mx::moveaxis(source, dim, 0, s);
  auto spread =
      spread_rows(as_rows(front, s), segments, static_cast<int>(rows), false, mx::to_stream(s));
  return mx::moveaxis(from_rows(spread, front, s), 0, dim, s);
}

}  // namespace mlx_sample
