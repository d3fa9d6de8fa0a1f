// The primitives of segments as functions, and their vmap.
#include "segments/primitives.h"

#include <algorithm>

namespace mlx_sample {

namespace {

mx::array dense(const mx::array& a, mx::Stream s) { return mx::contiguous(a, false, s); }

mx::array make(mx::Shape shape, mx::Dtype dtype, std::shared_ptr<mx::Primitive> primitive,
               const Arrays& values, const Segments& segments, mx::Stream s) {
  Arrays inputs;
  for (auto& value : values) {
    inputs.push_back(dense(value, s));
  }
  inputs.push_back(dense(segments.offsets, s));
  if (segments.rows) {
    inputs.push_back(dense(*segments.rows, s));
  }
  return mx::array(std::move(shape), dtype, std::move(primitive), std::move(inputs));
}

}  // namespace

mx::array reduce_rows(const mx::array& x, const Segments& segments, Reduction reduction,
                      mx::Stream s) {
  return make({segments.count(), x.shape(1)}, x.dtype(),
              std::make_shared<SegmentReduce>(s, reduction, segments.permutation), {x}, segments,
              s);
}

mx::array spread_rows(const mx::array& g, const Segments& segments, int rows, bool mean,
                      mx::Stream s) {
  return make({rows, g.shape(1)}, g.dtype(),
              std::make_shared<SegmentSpread>(s, rows, mean, segments.permutation), {g}, segments,
              s);
}

mx::array share_among_ties(const mx::array& x, const mx::array& y, const mx::array& g,
                           const Segments& segments, mx::Stream s) {
  return make(x.shape(), x.dtype(), std::make_shared<SegmentShare>(s, segments.permutation),
              {x, y, g}, segments, s);
}

mx::array mean_of_ties(const mx::array& x, const mx::array& y, const mx::array& v,
                       const Segments& segments, mx::Stream s) {
  auto holds = mx::equal(x, spread_rows(y, segments, x.shape(0), false, s), s);
  auto counts = reduce_rows(mx::astype(holds, mx::float32, s), segments, Reduction::Sum, s);
  auto kept = mx::where(holds, v, mx::zeros_like(v, s), s);
  auto sums = reduce_rows(mx::astype(kept, mx::float32, s), segments, Reduction::Sum, s);
  auto means = mx::divide(sums, mx::maximum(counts, mx::array(1.0f), s), s);
  return mx::astype(means, v.dtype(), s);
}

mx::array product_of_others(const mx::array& x, const Segments& segments, mx::Stream s) {
  return make(x.shape(), x.dtype(), std::make_shared<SegmentOthers>(s, false, segments.permutation),
              {x}, segments, s);
}

mx::array moved_product_of_others(const mx::array& x, const mx::array& u, const Segments& segments,
                                  mx::Stream s) {
  return make(x.shape(), x.dtype(), std::make_shared<SegmentOthers>(s, true, segments.permutation),
              {x, u}, segments, s);
}

Segments SegmentPrimitive::segments_of(const Arrays& inputs) const {
  Segments segments{inputs[values_], std::nullopt, permutation_};
  if (static_cast<int>(inputs.size()) > values_ + 1) {
    segments.rows = inputs[values_ + 1];
  }
  return segments;
}

namespace {

// (B, R, C) -> (R, B C)
mx::array as_columns(const mx::array& a, mx::Stream s) {
  return mx::reshape(mx::transpose(a, {1, 0, 2}, s), {a.shape(1), a.shape(0) * a.shape(2)}, s);
}

}  // namespace

std::pair<Arrays, std::vector<int>> SegmentPrimitive::vmap(const Arrays& inputs,
                                                           const std::vector<int>& axes) {
  auto s = stream();
  int batch = mapped_length(inputs, axes);
  bool mapped_segments = axes[values_] >= 0 || axes.back() >= 0;
  Arrays values;
  for (int i = 0; i < values_; ++i) {
    auto a = in_front(inputs[i], axes[i], batch, s);
    values.push_back(mapped_segments ? mx::flatten(a, 0, 1, s) : as_columns(a, s));
  }
  auto segments = segments_of(inputs);
  if (!mapped_segments) {
    auto out = apply(values, segments, 1);
    return {{mx::unflatten(out, 1, {batch, batch ? out.shape(1) / batch : 0}, s)}, {1}};
  }
  auto offsets = in_front(inputs[values_], axes[values_], batch, s);
  int count = offsets.shape(1) - 1;
  // The last offset is the number of rows of one batch element.
  auto covered = mx::slice(offsets, {0, count}, {batch, count + 1}, s);
  auto before = mx::subtract(mx::cumsum(covered, 0, false, true, s), covered, s);
  auto starts = mx::add(mx::slice(offsets, {0, 0}, {batch, count}, s), before, s);
  segments.offsets = mx::concatenate(
      {mx::flatten(starts, s), mx::reshape(mx::sum(covered, false, s), {1}, s)}, 0, s);
  segments.offsets = mx::astype(segments.offsets, mx::int32, s);
  if (segments.rows) {
    auto rows = in_front(*segments.rows, axes.back(), batch, s);
    int of_line = permutation_ ? rows.shape(1) : values[0].shape(0) / std::max(batch, 1);
    segments.rows = mx::flatten(shifted(rows, of_line, s), s);
  }
  auto out = apply(values, segments, batch);
  return {{mx::unflatten(out, 0, {batch, batch ? out.shape(0) / batch : 0}, s)}, {0}};
}

}  // namespace mlx_sample
