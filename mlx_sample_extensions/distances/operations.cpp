// The operations on distances, with checks of their arguments.
#include "distances/distances.h"
#include "distances/paired.h"
#include "indices.h"
#include "mlx/utils.h"

namespace mlx_sample {

namespace {

Metric metric_of(const char* operation, const std::string& name) {
  const std::pair<const char*, Metric> known[] = {{"euclidean", Metric::Euclidean},
                                                  {"squared_euclidean", Metric::SquaredEuclidean},
                                                  {"manhattan", Metric::Manhattan},
                                                  {"cosine", Metric::Cosine}};
  for (auto [text, metric] : known) {
    if (name == text) {
      return metric;
    }
  }
  refuse(operation, "Invalid metric '" + name +
                        "': expected one of euclidean, squared_euclidean, cosine, manhattan.");
}

void check_points(const char* operation, const mx::array& a, const mx::array& b) {
  for (auto [name, points] : {std::pair("a", &a), std::pair("b", &b)}) {
    if (points->ndim() != 2) {
      refuse(operation, std::string(name) + " must have shape (points, coordinates), but it has " +
                            "shape " + mx::shape_to_string(points->shape()) + ".");
    }
  }
  if (a.shape(1) != b.shape(1)) {
    refuse(operation, "a and b must have as many coordinates, but they have " +
                          std::to_string(a.shape(1)) + " and " + std::to_string(b.shape(1)) + ".");
  }
}

mx::Dtype common_type(const char* operation, const mx::array& a, const mx::array& b) {
  auto promoted = mx::promote_types(a.dtype(), b.dtype());
  auto dtype = mx::issubdtype(promoted, mx::inexact) ? promoted : mx::float32;
  if (dtype != mx::float32 && dtype != mx::float16 && dtype != mx::bfloat16) {
    refuse(operation,
           "a and b must be float32, float16, bfloat16 or integers, but together they are " +
               mx::dtype_to_string(dtype) + ".");
  }
  return dtype;
}

// The indexed points in float32.
mx::array select(const mx::array& points, const std::optional<mx::array>& indices,
                 const IndexArgument& expected, mx::StreamOrDevice s) {
  if (!indices) {
    return mx::astype(points, mx::float32, s);
  }
  return mx::astype(mx::take(points, checked_indices(*indices, expected), 0, s), mx::float32, s);
}

// Checked indices of points; by default all in order.
mx::array numbers_of(const mx::array& points, const std::optional<mx::array>& indices,
                     const IndexArgument& expected, mx::StreamOrDevice s) {
  if (!indices) {
    return mx::arange(0, points.shape(0), mx::int32, s);
  }
  return mx::astype(checked_indices(*indices, expected), mx::int32, s);
}

}  // namespace

mx::array indexed_distance(const mx::array& a, const mx::array& b,
                           const std::optional<mx::array>& a_indices,
                           const std::optional<mx::array>& b_indices, const std::string& metric,
                           bool check, mx::StreamOrDevice s) {
  const char* name = "indexed_distance";
  auto which = metric_of(name, metric);
  check_points(name, a, b);
  auto dtype = common_type(name, a, b);
  auto x = select(a, a_indices, {name, "a_indices", a.shape(0), !check}, s);
  auto y = select(b, b_indices, {name, "b_indices", b.shape(0), !check}, s);
  if (which == Metric::Cosine) {
    auto stream = mx::to_stream(s);
    auto d = mx::addmm(mx::array(1.0f), normalized(x, stream),
                       mx::transpose(normalized(y, stream), s), -1.0f, 1.0f, s);
    return mx::astype(d, dtype, s);
  }
  auto d =
      pairwise(mx::expand_dims(x, 0, s), mx::expand_dims(y, 0, s), which, dtype, mx::to_stream(s));
  return mx::squeeze(d, 0, s);
}

mx::array paired_distance(const mx::array& a, const mx::array& b,
                          const std::optional<mx::array>& a_indices,
                          const std::optional<mx::array>& b_indices, const std::string& metric,
                          bool check, mx::StreamOrDevice s) {
  const char* name = "paired_distance";
  auto which = metric_of(name, metric);
  check_points(name, a, b);
  auto dtype = common_type(name, a, b);
  auto i = numbers_of(a, a_indices, {name, "a_indices", a.shape(0), !check}, s);
  auto j = numbers_of(b, b_indices, {name, "b_indices", b.shape(0), !check}, s);
  if (i.shape(0) != j.shape(0)) {
    refuse(name,
           "There must be as many points or a_indices as points or b_indices, but there are " +
               std::to_string(i.shape(0)) + " and " + std::to_string(j.shape(0)) + ".");
  }
  return paired({mx::astype(a, dtype, s), mx::astype(b, dtype, s), i, j}, which, mx::to_stream(s));
}

}  // namespace mlx_sample
