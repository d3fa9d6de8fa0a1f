// Derivatives and vmap of neighbour searches. The indices of neighbours are constant; their
// distances depend on the points.
#include "neighbors/primitives.h"
#include "segments/offsets.h"
#include "segments/primitives.h"

namespace mlx_sample {

namespace {

// Pairs of queries and neighbours, in the shape of the indices.
struct Pairs {
  mx::array neighbors;    // (Q k,), 0 if there is none
  mx::array differences;  // (Q, k, D): query - neighbour
  mx::array inverses;     // (Q, k): 1 / distance, or 0 for no neighbour and for distance 0

  Pairs(const mx::array& points, const mx::array& queries, const mx::array& indices,
        const mx::array& distances, mx::Stream s)
      : neighbors(mx::flatten(mx::maximum(indices, mx::array(0, mx::int32), s), s)),
        differences(gathered(points, queries, neighbors, indices.shape(), s)),
        inverses(distances) {
    auto counted = mx::logical_and(mx::greater_equal(indices, mx::array(0, mx::int32), s),
                                   mx::greater(distances, mx::array(0.0f), s), s);
    auto safe = mx::where(counted, distances, mx::array(1.0f), s);
    inverses = mx::where(counted, mx::reciprocal(safe, s), mx::array(0.0f), s);
  }

  // queries - points[neighbors]
  static mx::array gathered(const mx::array& points, const mx::array& queries,
                            const mx::array& neighbors, const mx::Shape& shape, mx::Stream s) {
    auto others =
        mx::reshape(points_at(points, neighbors, s), {shape[0], shape[1], points.shape(1)}, s);
    return mx::subtract(mx::expand_dims(queries, 1, s), others, s);
  }
  // Without points there are no neighbours: the values do not matter.
  static mx::array points_at(const mx::array& points, const mx::array& neighbors, mx::Stream s) {
    if (points.shape(0) == 0) {
      return mx::zeros({neighbors.shape(0), points.shape(1)}, mx::float32, s);
    }
    return mx::take(points, neighbors, 0, s);
  }
};

}  // namespace

Arrays find_neighbors(const mx::array& points, const mx::array& queries, const mx::array& offsets,
                      const mx::array& query_offsets, int k, float radius, mx::Stream s) {
  int count = queries.shape(0);
  return mx::array::make_arrays(
      {{count, k}, {count, k}, {count}}, {mx::int32, mx::float32, mx::int32},
      std::make_shared<Neighbors>(s, k, radius),
      {dense(points, s), dense(queries, s), dense(offsets, s), dense(query_offsets, s)});
}

Arrays Neighbors::jvp(const Arrays& primals, const Arrays& tangents,
                      const std::vector<int>& argnums) {
  auto s = stream();
  auto found = find_neighbors(primals[0], primals[1], primals[2], primals[3], k_, radius_, s);
  Pairs pairs(primals[0], primals[1], found[0], found[1], s);
  auto moved = Pairs::gathered(tangent_of(0, primals, tangents, argnums, s),
                               tangent_of(1, primals, tangents, argnums, s), pairs.neighbors,
                               found[0].shape(), s);
  auto rates = mx::sum(mx::multiply(pairs.differences, moved, s), 2, false, s);
  return {mx::zeros_like(found[0], s), mx::multiply(rates, pairs.inverses, s),
          mx::zeros_like(found[2], s)};
}

Arrays Neighbors::vjp(const Arrays& primals, const Arrays& cotangents,
                      const std::vector<int>& argnums, const Arrays& outputs) {
  auto s = stream();
  auto& points = primals[0];
  Pairs pairs(points, primals[1], outputs[0], outputs[1], s);
  auto weights = mx::expand_dims(mx::multiply(cotangents[1], pairs.inverses, s), 2, s);
  auto parts = mx::multiply(weights, pairs.differences, s);
  Arrays result;
  for (int input : argnums) {
    if (input == 0 && points.shape(0) > 0) {
      auto [order, offsets] = group_rows(pairs.neighbors, points.shape(0), s);
      auto rows = mx::reshape(parts, {pairs.neighbors.shape(0), points.shape(1)}, s);
      result.push_back(
          mx::negative(reduce_rows(rows, {offsets, order, true}, Reduction::Sum, s), s));
    } else if (input == 1) {
      result.push_back(mx::sum(parts, 1, false, s));
    } else {
      result.push_back(mx::zeros_like(primals[input], s));
    }
  }
  return result;
}

// The batch elements become clouds of one ragged batch.
std::pair<Arrays, std::vector<int>> Neighbors::vmap(const Arrays& inputs,
                                                    const std::vector<int>& axes) {
  auto s = stream();
  int length = mapped_length(inputs, axes);
  Arrays all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    all.push_back(in_front(inputs[i], axes[i], length, s));
  }
  int points = all[0].shape(1);
  int queries = all[1].shape(1);
  auto joined = [&](const mx::array& offsets, int step) {
    int clouds = offsets.shape(1) - 1;
    auto starts = shifted(mx::slice(offsets, {0, 0}, {length, clouds}, s), step, s);
    auto end = mx::array({length * step}, mx::int32);
    return mx::concatenate({mx::flatten(starts, s), end}, 0, s);
  };
  auto found = find_neighbors(mx::flatten(all[0], 0, 1, s), mx::flatten(all[1], 0, 1, s),
                              joined(all[2], points), joined(all[3], queries), k_, radius_, s);
  auto indices = mx::unflatten(found[0], 0, {length, queries}, s);
  auto own = shifted(indices, -points, s);
  auto none = mx::less(indices, mx::array(0, mx::int32), s);
  return {{mx::where(none, indices, own, s), mx::unflatten(found[1], 0, {length, queries}, s),
           mx::unflatten(found[2], 0, {length, queries}, s)},
          {0, 0, 0}};
}

}  // namespace mlx_sample
