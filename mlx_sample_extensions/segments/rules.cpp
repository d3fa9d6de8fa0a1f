// Derivatives of the primitives of segments, in terms of each other.
#include <algorithm>
#include <stdexcept>

#include "segments/offsets.h"
#include "segments/primitives.h"

namespace mlx_sample {

namespace {

// Cotangents by input; zeros for those without a derivative.
template <typename F>
Arrays for_inputs(const std::vector<int>& argnums, const Arrays& primals, mx::Stream s, F&& f) {
  Arrays result;
  for (int input : argnums) {
    std::optional<mx::array> cotangent = f(input);
    result.push_back(cotangent ? *cotangent : mx::zeros_like(primals[input], s));
  }
  return result;
}

// Groups listed rows, which may repeat, by the row of N: for each of the N rows its positions in
// the list.
Segments listings(const Segments& segments, int rows, mx::Stream s) {
  auto [order, offsets] = group_rows(*segments.rows, rows, s);
  return {offsets, order, true};
}

// The segment of each listed row.
mx::array segment_ids(const Segments& segments, mx::Stream s) {
  auto ids = mx::reshape(mx::arange(0, segments.count(), mx::int32, s), {segments.count(), 1}, s);
  Segments plain{segments.offsets, std::nullopt, false};
  return mx::flatten(spread_rows(ids, plain, segments.rows->shape(0), false, s), s);
}

// The adjoint of sum and mean if segments may list rows several times.
mx::array spread_to_listed(const mx::array& g, const Segments& segments, int rows, bool mean,
                           mx::Stream s) {
  if (!segments.repeats_rows()) {
    return spread_rows(g, segments, rows, mean, s);
  }
  auto scaled = g;
  if (mean) {
    int k = segments.count();
    auto lengths = mx::subtract(mx::slice(segments.offsets, {1}, {k + 1}, s),
                                mx::slice(segments.offsets, {0}, {k}, s), s);
    auto divisor = mx::astype(mx::maximum(lengths, mx::array(1, mx::int32), s), mx::float32, s);
    scaled =
        mx::astype(mx::divide(mx::astype(g, mx::float32, s), mx::reshape(divisor, {k, 1}, s), s),
                   g.dtype(), s);
  }
  auto by_row = listings(segments, rows, s);
  by_row.rows = mx::take(segment_ids(segments, s), *by_row.rows, 0, s);
  by_row.permutation = false;
  return reduce_rows(scaled, by_row, Reduction::Sum, s);
}

// Calls f(x, segments) with the listed rows copied side by side, and adds its rows to the original
// ones.
template <typename F>
mx::array through_listed(const mx::array& x, const Segments& segments, mx::Stream s, F&& f) {
  if (!segments.repeats_rows()) {
    return f(x, segments);
  }
  Segments plain{segments.offsets, std::nullopt, false};
  auto rows = f(mx::take(x, *segments.rows, 0, s), plain);
  return reduce_rows(rows, listings(segments, x.shape(0), s), Reduction::Sum, s);
}

}  // namespace

// ---- SegmentReduce ----

mx::array SegmentReduce::apply(const Arrays& values, const Segments& segments, int) {
  return reduce_rows(values[0], segments, reduction_, stream());
}

Arrays SegmentReduce::vjp(const Arrays& primals, const Arrays& cotangents,
                          const std::vector<int>& argnums, const Arrays& outputs) {
  auto s = stream();
  auto& x = primals[0];
  auto& g = cotangents[0];
  auto segments = segments_of(primals);
  return for_inputs(argnums, primals, s, [&](int input) -> std::optional<mx::array> {
    if (input != 0) {
      return std::nullopt;
    }
    switch (reduction_) {
      case Reduction::Sum:
      case Reduction::Mean:
        return spread_to_listed(g, segments, x.shape(0), reduction_ == Reduction::Mean, s);
      case Reduction::Prod:
        return through_listed(x, segments, s, [&](const mx::array& rows, const Segments& plain) {
          return mx::multiply(product_of_others(rows, plain, s),
                              spread_rows(g, plain, rows.shape(0), false, s), s);
        });
      default:
        return through_listed(x, segments, s, [&](const mx::array& rows, const Segments& plain) {
          return share_among_ties(rows, outputs[0], g, plain, s);
        });
    }
  });
}

Arrays SegmentReduce::jvp(const Arrays& primals, const Arrays& tangents,
                          const std::vector<int>& argnums) {
  auto s = stream();
  auto segments = segments_of(primals);
  auto x = primals[0];
  auto dx = tangent_of(0, primals, tangents, argnums, s);
  if (reduction_ == Reduction::Sum || reduction_ == Reduction::Mean) {
    return {reduce_rows(dx, segments, reduction_, s)};
  }
  if (segments.repeats_rows()) {
    x = mx::take(x, *segments.rows, 0, s);
    dx = mx::take(dx, *segments.rows, 0, s);
    segments = {segments.offsets, std::nullopt, false};
  }
  if (reduction_ == Reduction::Prod) {
    auto moved = mx::multiply(dx, product_of_others(x, segments, s), s);
    return {reduce_rows(moved, segments, Reduction::Sum, s)};
  }
  return {mean_of_ties(x, reduce_rows(x, segments, reduction_, s), dx, segments, s)};
}

// ---- SegmentSpread ----

mx::array SegmentSpread::apply(const Arrays& values, const Segments& segments, int batch) {
  return spread_rows(values[0], segments, rows_ * batch, mean_, stream());
}

Arrays SegmentSpread::vjp(const Arrays& primals, const Arrays& cotangents,
                          const std::vector<int>& argnums, const Arrays&) {
  auto s = stream();
  return for_inputs(argnums, primals, s, [&](int input) -> std::optional<mx::array> {
    if (input != 0) {
      return std::nullopt;
    }
    return reduce_rows(cotangents[0], segments_of(primals),
                       mean_ ? Reduction::Mean : Reduction::Sum, s);
  });
}

Arrays SegmentSpread::jvp(const Arrays& primals, const Arrays& tangents,
                          const std::vector<int>& argnums) {
  auto dg = tangent_of(0, primals, tangents, argnums, stream());
  return {spread_rows(dg, segments_of(primals), rows_, mean_, stream())};
}

// ---- SegmentShare: linear in g; the rows that are equal to the extremum are constant ----

mx::array SegmentShare::apply(const Arrays& values, const Segments& segments, int) {
  return share_among_ties(values[0], values[1], values[2], segments, stream());
}

Arrays SegmentShare::vjp(const Arrays& primals, const Arrays& cotangents,
                         const std::vector<int>& argnums, const Arrays&) {
  auto s = stream();
  return for_inputs(argnums, primals, s, [&](int input) -> std::optional<mx::array> {
    if (input != 2) {
      return std::nullopt;
    }
    return mean_of_ties(primals[0], primals[1], cotangents[0], segments_of(primals), s);
  });
}

Arrays SegmentShare::jvp(const Arrays& primals, const Arrays& tangents,
                         const std::vector<int>& argnums) {
  auto dg = tangent_of(2, primals, tangents, argnums, stream());
  return {share_among_ties(primals[0], primals[1], dg, segments_of(primals), stream())};
}

// ---- SegmentOthers ----

mx::array SegmentOthers::apply(const Arrays& values, const Segments& segments, int) {
  return moved_ ? moved_product_of_others(values[0], values[1], segments, stream())
                : product_of_others(values[0], segments, stream());
}

namespace {
[[noreturn]] void refuse_third_derivative() {
  throw std::invalid_argument(
      "[segment_reduce] prod has first and second derivatives only: its third is asked for.");
}
}  // namespace

Arrays SegmentOthers::vjp(const Arrays& primals, const Arrays& cotangents,
                          const std::vector<int>& argnums, const Arrays&) {
  auto s = stream();
  return for_inputs(argnums, primals, s, [&](int input) -> std::optional<mx::array> {
    if (input >= values_) {
      return std::nullopt;
    }
    if (moved_ && input == 0) {
      refuse_third_derivative();
    }
    return moved_product_of_others(primals[0], cotangents[0], segments_of(primals), s);
  });
}

Arrays SegmentOthers::jvp(const Arrays& primals, const Arrays& tangents,
                          const std::vector<int>& argnums) {
  if (moved_ && std::find(argnums.begin(), argnums.end(), 0) != argnums.end()) {
    refuse_third_derivative();
  }
  auto du = tangent_of(moved_ ? 1 : 0, primals, tangents, argnums, stream());
  return {moved_product_of_others(primals[0], du, segments_of(primals), stream())};
}

}  // namespace mlx_sample
