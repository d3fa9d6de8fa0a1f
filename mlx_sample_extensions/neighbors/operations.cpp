// The operations on neighbours, with checks of their arguments.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "mlx/utils.h"
#include "neighbors/neighbors.h"
#include "neighbors/primitives.h"
#include "segments/offsets.h"

namespace mlx_sample {

namespace {

void check_points(const char* operation, const char* name, const mx::array& points) {
  if (points.ndim() != 2) {
    refuse(operation, std::string(name) +
                          " must have shape (points, coordinates), but it has shape " +
                          mx::shape_to_string(points.shape()) + ".");
  }
  auto dtype = points.dtype();
  if (mx::issubdtype(dtype, mx::complexfloating) || dtype == mx::float64) {
    refuse(operation, std::string(name) +
                          " must be float32, float16, bfloat16 or integers, but it is " +
                          mx::dtype_to_string(dtype) + ".");
  }
}

mx::array offsets_of(const char* operation, const char* name, const char* what,
                     const mx::array& points, const Lengths& lengths, bool check) {
  if (!lengths) {
    return mx::array({0, points.shape(0)}, mx::int32);
  }
  return segment_offsets(*lengths, {operation, name, points.shape(0), what, !check});
}

std::tuple<mx::array, mx::array, mx::array> search(const char* operation, const mx::array& points,
                                                   const mx::array& queries, int k, float radius,
                                                   const Lengths& lengths,
                                                   const Lengths& query_lengths, bool check,
                                                   mx::StreamOrDevice s) {
  check_points(operation, "points", points);
  check_points(operation, "queries", queries);
  if (points.shape(1) != queries.shape(1)) {
    refuse(operation, "points and queries must have as many coordinates, but they have " +
                          std::to_string(points.shape(1)) + " and " +
                          std::to_string(queries.shape(1)) + ".");
  }
  if (lengths.has_value() != query_lengths.has_value()) {
    refuse(operation, "lengths and query_lengths must be given together.");
  }
  if (lengths && lengths->shape() != query_lengths->shape()) {
    refuse(operation, "lengths and query_lengths must have the same shape, but they have " +
                          mx::shape_to_string(lengths->shape()) + " and " +
                          mx::shape_to_string(query_lengths->shape()) + ".");
  }
  auto found = find_neighbors(
      mx::astype(points, mx::float32, s), mx::astype(queries, mx::float32, s),
      offsets_of(operation, "lengths", "points", points, lengths, check),
      offsets_of(operation, "query_lengths", "queries", queries, query_lengths, check), k, radius,
      mx::to_stream(s));
  return {found[0], found[1], found[2]};
}

// ---- cells of a grid ----

// Numbers points by cell. A hash table holds each cell's first point.
class Cells {
 public:
  Cells(const std::vector<int64_t>& places, size_t dims, size_t points)
      : places_(places), dims_(dims), table_(std::bit_ceil(2 * points + 1), -1) {}

  // The first point in the cell of point i.
  int32_t first_of(int32_t i) {
    const int64_t* place = places_.data() + i * dims_;
    size_t at = hash(place) & (table_.size() - 1);
    while (table_[at] >= 0 && !same(place, places_.data() + table_[at] * dims_)) {
      at = (at + 1) & (table_.size() - 1);
    }
    return table_[at] < 0 ? table_[at] = i : table_[at];
  }

 private:
  size_t hash(const int64_t* place) const {
    uint64_t h = 0;
    for (size_t k = 0; k < dims_; ++k) {
      h = (h ^ static_cast<uint64_t>(place[k])) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    }
    return h;
  }
  bool same(const int64_t* a, const int64_t* b) const { return std::equal(a, a + dims_, b); }

  const std::vector<int64_t>& places_;
  size_t dims_;
  std::vector<int32_t> table_;
};

// For each point its cloud and the coordinates of its cell.
std::vector<int64_t> places_of(const mx::array& points, const mx::array& offsets, float size) {
  int dims = points.shape(1);
  std::vector<int64_t> places;
  places.reserve(points.size() + points.shape(0));
  const float* values = points.data<float>();
  const int32_t* starts = offsets.data<int32_t>();
  for (int32_t i = 0, cloud = 0; i < points.shape(0); ++i) {
    while (cloud + 1 < offsets.shape(0) && starts[cloud + 1] <= i) {
      ++cloud;
    }
    places.push_back(cloud);
    for (int k = 0; k < dims; ++k) {
      double place = std::floor(static_cast<double>(values[i * int64_t(dims) + k]) / size);
      if (!(std::abs(place) < 0x1p62)) {
        refuse("grid_subsample", "Invalid points: a coordinate of point " + std::to_string(i) +
                                     " is not finite, or too far out for cells of this size.");
      }
      places.push_back(static_cast<int64_t>(place));
    }
  }
  return places;
}

mx::array from_vector(const std::vector<int32_t>& values) {
  return mx::array(values.begin(), {static_cast<int>(values.size())}, mx::int32);
}

}  // namespace

std::tuple<mx::array, mx::array, mx::array> knn(const mx::array& points, const mx::array& queries,
                                                int k, const Lengths& lengths,
                                                const Lengths& query_lengths, bool check,
                                                mx::StreamOrDevice s) {
  if (k < 1) {
    refuse("knn", "Invalid k " + std::to_string(k) + ": it must be positive.");
  }
  return search("knn", points, queries, k, std::numeric_limits<float>::infinity(), lengths,
                query_lengths, check, s);
}

std::tuple<mx::array, mx::array, mx::array> radius_search(const mx::array& points,
                                                          const mx::array& queries, float radius,
                                                          int max_neighbors, const Lengths& lengths,
                                                          const Lengths& query_lengths, bool check,
                                                          mx::StreamOrDevice s) {
  if (!(radius >= 0) || std::isinf(radius)) {
    refuse("radius_search",
           "Invalid radius " + std::to_string(radius) + ": it must be finite and not negative.");
  }
  if (max_neighbors < 0) {
    refuse("radius_search",
           "Invalid max_neighbors " + std::to_string(max_neighbors) + ": it must not be negative.");
  }
  return search("radius_search", points, queries, max_neighbors, radius, lengths, query_lengths,
                check, s);
}

std::tuple<mx::array, mx::array> grid_cells(const mx::array& points, float size,
                                            const Lengths& lengths, bool check) {
  const char* name = "grid_subsample";
  check_points(name, "points", points);
  if (!(size > 0) || std::isinf(size)) {
    refuse(name, "Invalid size " + std::to_string(size) + ": it must be finite and positive.");
  }
  auto offsets = offsets_of(name, "lengths", "points", points, lengths, check);
  auto known = mx::contiguous(mx::astype(points, mx::float32));
  known.eval();
  offsets.eval();
  auto places = places_of(known, offsets, size);
  Cells table(places, points.shape(1) + 1, points.shape(0));
  std::vector<int32_t> cells(points.shape(0));
  std::vector<int32_t> cell_lengths(offsets.shape(0) - 1, 0);
  int32_t next = 0;
  for (size_t cloud = 0; cloud < cell_lengths.size(); ++cloud) {
    for (int32_t i = offsets.data<int32_t>()[cloud]; i < offsets.data<int32_t>()[cloud + 1]; ++i) {
      int32_t first = table.first_of(i);
      cells[i] = first == i ? next++ : cells[first];
      cell_lengths[cloud] += first == i;
    }
  }
  return {from_vector(cells), from_vector(cell_lengths)};
}

}  // namespace mlx_sample
