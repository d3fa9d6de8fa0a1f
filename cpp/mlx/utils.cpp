// Helpers on streams, shapes, axes and types.
#include "mlx/utils.h"

#include <algorithm>

#include "mlx/errors.h"

namespace mlx::core {

Stream to_stream(StreamOrDevice s) { return to_stream(s, default_device()); }

Stream to_stream(StreamOrDevice s, Device device) {
  if (auto* stream = std::get_if<Stream>(&s)) {
    return *stream;
  }
  if (auto* local = std::get_if<ThreadLocalStream>(&s)) {
    return to_stream(*local);
  }
  auto* given = std::get_if<Device>(&s);
  return default_stream(given ? *given : device);
}

namespace {

// The device that was the default before is restored through its stream.
Stream enter(StreamOrDevice s) {
  if (std::holds_alternative<std::monostate>(s)) {
    throw std::invalid_argument("[StreamContext] A stream or a device must be given.");
  }
  return default_stream(default_device());
}

}  // namespace

StreamContext::StreamContext(StreamOrDevice s) : stream_(enter(s)), inner_(stream_) {
  if (auto* device = std::get_if<Device>(&s)) {
    set_default_device(*device);
    inner_ = default_stream(*device);
  } else {
    auto stream = to_stream(s);
    inner_ = default_stream(stream.device);
    set_default_device(stream.device);
    set_default_stream(stream);
  }
}

StreamContext::~StreamContext() {
  set_default_stream(inner_);
  set_default_device(stream_.device);
  set_default_stream(stream_);
}

Dtype result_type(const std::vector<array>& arrays) {
  Dtype type = bool_;
  for (const auto& a : arrays) {
    type = promote_types(type, a.dtype());
  }
  return type;
}

bool can_cast(const Dtype& from, const Dtype& to) { return promote_types(from, to) == to; }

Shape broadcast_shapes(const Shape& s1, const Shape& s2) {
  const Shape& longer = s1.size() >= s2.size() ? s1 : s2;
  const Shape& shorter = s1.size() >= s2.size() ? s2 : s1;
  Shape out = longer;
  size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    ShapeElem a = longer[i + skip];
    ShapeElem b = shorter[i];
    if (a != b && a != 1 && b != 1) {
      invalid_argument("broadcast_shapes",
                       message("Shapes ", s1, " and ", s2, " cannot be broadcast."));
    }
    out[i + skip] = a == 1 ? b : a;
  }
  return out;
}

int normalize_axis_index(int axis, int ndim, const std::string& op) {
  if (axis < -ndim || axis >= ndim) {
    throw AxisError(message("[", op, "] Axis ", axis, " is out of bounds for an array with ", ndim,
                            " dimensions."));
  }
  return axis < 0 ? axis + ndim : axis;
}

std::vector<int> normalize_axes(const std::vector<int>& axes, int ndim, const std::string& op) {
  std::vector<int> out;
  for (int axis : axes) {
    out.push_back(normalize_axis_index(axis, ndim, op));
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) {
    invalid_argument(
        op, message("Axes must be unique, but ", Shape(axes.begin(), axes.end()), " were given."));
  }
  return out;
}

Strides row_contiguous_strides(const Shape& shape) {
  Strides strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

bool is_same_shape(const std::vector<array>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(),
                     [&](const array& a) { return a.shape() == arrays[0].shape(); });
}

}  // namespace mlx::core
