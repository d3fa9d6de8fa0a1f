// Products of matrices chosen by indices, and of segments of matrices: shapes, derivatives, vmap.
#include "mlx/primitives/grouped.h"

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/grouped_rules.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

// The tangent of a product of inputs 0 and 1; the others are indices.
template <typename Product>
std::vector<array> product_tangent(const char* op, const std::vector<array>& primals,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums, const Stream& s,
                                   Product&& product) {
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] > 1) invalid_argument(op, "There is no derivative with respect to indices.");
    accumulate(
        tangent,
        argnums[i] == 0 ? product(tangents[i], primals[1]) : product(primals[0], tangents[i]), s);
  }
  return {*tangent};
}

}  // namespace

// ---- GatherMM ----

std::vector<Shape> GatherMM::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[2].shape();
  shape.push_back(inputs[0].shape(-2));
  shape.push_back(inputs[1].shape(-1));
  return {shape};
}

std::vector<array> GatherMM::jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums) {
  return product_tangent("gather_mm", primals, tangents, argnums, stream(),
                         [&](const array& a, const array& b) {
                           return gather_mm(a, b, primals[2], primals[3], false, stream());
                         });
}

std::vector<array> GatherMM::vjp(const std::vector<array>& primals,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums, const std::vector<array>&) {
  const array &a = primals[0], &b = primals[1];
  Pairs pairs(primals[2], primals[3], a.shape(0), b.shape(0), stream());
  array c = pairs.in_a_line(cotangents[0]);
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg > 1) invalid_argument("gather_mm", "There is no derivative with respect to indices.");
    if (arg == 0) {
      vjps.push_back(pairs.sum_for_left(
          gather_mm(c, adjoint(b, stream()), pairs.own(), pairs.right, false, stream())));
    } else {
      vjps.push_back(pairs.products_for_right(conjugate(pairs.take_left(a), stream()), c));
    }
  }
  return vjps;
}

VmapResult GatherMM::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const int n = mapped_length(inputs, axes);
  array a = axis_in_front(inputs[0], axes[0], stream());
  array b = axis_in_front(inputs[1], axes[1], stream());
  array lhs = mapped_indices(inputs[2], axes[2], a, axes[0] >= 0, n, stream());
  array rhs = mapped_indices(inputs[3], axes[3], b, axes[1] >= 0, n, stream());
  return {{gather_mm(a, b, lhs, rhs, false, stream())}, {0}};
}

// ---- SegmentedMM ----

std::vector<Shape> SegmentedMM::output_shapes(const std::vector<array>& inputs) {
  Shape shape = inputs[2].shape();
  shape.back() = inputs[0].shape(0);
  shape.push_back(inputs[1].shape(1));
  return {shape};
}

std::vector<array> SegmentedMM::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  return product_tangent(
      "segmented_mm", primals, tangents, argnums, stream(),
      [&](const array& a, const array& b) { return segmented_mm(a, b, primals[2], stream()); });
}

std::vector<array> SegmentedMM::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums, const std::vector<array>&) {
  const Stream& s = stream();
  const array &a = primals[0], &b = primals[1];
  array segments = reshape(primals[2], {-1, 2}, s);
  array c = reshape(cotangents[0], {segments.shape(0), a.shape(0), b.shape(1)}, s);
  // A mask (segments, K) of the columns of a (rows of b) in each segment.
  array bounds = minimum(astype(segments, int32, s), array(a.shape(1)), s);
  array column = expand_dims(arange(a.shape(1), s), 0, s);
  auto bound = [&](int i) { return slice(bounds, {0, i}, {bounds.shape(0), i + 1}, s); };
  array inside = logical_and(greater_equal(column, bound(0), s), less(column, bound(1), s), s);
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg > 1)
      invalid_argument("segmented_mm", "There is no derivative with respect to segments.");
    array parts = arg == 0 ? matmul(c, adjoint(b, s), s) : matmul(adjoint(a, s), c, s);
    array mask = expand_dims(inside, arg == 0 ? 1 : 2, s);
    vjps.push_back(sum(where(mask, parts, scalar(0, parts), s), 0, false, s));
  }
  return vjps;
}

VmapResult SegmentedMM::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Stream& s = stream();
  if (axes[0] < 0 && axes[1] < 0) {
    return {{segmented_mm(inputs[0], inputs[1], axis_in_front(inputs[2], axes[2], s), s)}, {0}};
  }
  const int n = mapped_length(inputs, axes);
  std::vector<array> out;
  auto part = [&](int input, int i) {
    return axes[input] < 0 ? inputs[input] : take(inputs[input], i, axes[input], s);
  };
  for (int i = 0; i < n; ++i) out.push_back(segmented_mm(part(0, i), part(1, i), part(2, i), s));
  return {{stack(out, 0, s)}, {0}};
}

}  // namespace mlx::core
