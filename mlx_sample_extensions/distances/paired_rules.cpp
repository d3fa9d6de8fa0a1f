// Derivatives and vmap of distances of pairs. The first gradients are a primitive, which makes no
// array with an element for every pair and coordinate. Everything else is derived from array
// operations.
#include <algorithm>

#include "distances/paired.h"
#include "mlx/transforms.h"
#include "segments/offsets.h"

namespace mlx_sample {

namespace {

Pairing pairing_of(const Arrays& inputs) { return {inputs[0], inputs[1], inputs[2], inputs[3]}; }

// The square root with gradient 0 at 0.
mx::array root(const mx::array& x, mx::Stream s) {
  auto positive = mx::greater(x, mx::array(0.0f), s);
  auto safe = mx::where(positive, x, mx::array(1.0f), s);
  return mx::where(positive, mx::sqrt(safe, s), mx::array(0.0f), s);
}

// The lengths of points as vectors: their distances to the origin.
mx::array lengths_of(const mx::array& points, mx::Stream s) {
  auto wide = mx::astype(points, mx::float32, s);
  auto origin = mx::zeros({1, points.shape(1)}, mx::float32, s);
  auto all = mx::arange(0, points.shape(0), mx::int32, s);
  auto none = mx::zeros({points.shape(0)}, mx::int32, s);
  return paired({wide, origin, all, none}, Metric::Euclidean, s);
}

// Merges the points of all batch elements into the rows of one array, and adjusts the indices.
class Batch {
 public:
  Batch(const Arrays& inputs, const std::vector<int>& axes, mx::Stream s)
      : inputs_(inputs), axes_(axes), s_(s), length_(mapped_length(inputs, axes)) {}

  // The rows of input k: those of all batch elements if `all`, or if they differ.
  mx::array rows(int k, bool all = false) const {
    return all || axes_[k] >= 0 ? mx::flatten(spread(k), 0, 1, s_) : inputs_[k];
  }
  // Indices of input k into the rows of input `of`.
  mx::array indices(int k, int of, bool all = false) const {
    auto own = spread(k);
    bool apart = all || axes_[of] >= 0;
    return mx::flatten(apart ? shifted(own, count(of), s_) : own, s_);
  }

  // The number of rows of input k in one batch element.
  int count(int k) const { return inputs_[k].shape(axes_[k] == 0 ? 1 : 0); }
  // Splits the merged rows again.
  std::pair<Arrays, std::vector<int>> apart(const mx::array& rows, int count) const {
    return {{mx::unflatten(rows, 0, {length_, count}, s_)}, {0}};
  }

 private:
  mx::array spread(int k) const { return in_front(inputs_[k], axes_[k], length_, s_); }

  const Arrays& inputs_;
  const std::vector<int>& axes_;
  mx::Stream s_;
  int length_;
};

}  // namespace

mx::array normalized(const mx::array& x, mx::Stream s) {
  auto squares = mx::sum(mx::square(x, s), -1, true, s);
  auto proper = mx::greater(squares, mx::array(0.0f), s);
  auto safe = mx::where(proper, squares, mx::array(1.0f), s);
  return mx::where(proper, mx::multiply(x, mx::rsqrt(safe, s), s), mx::array(0.0f), s);
}

mx::array paired(const Pairing& pairs, Metric metric, mx::Stream s) {
  return mx::array(pairs.i.shape(), pairs.a.dtype(), std::make_shared<PairedDistance>(s, metric),
                   {dense(pairs.a, s), dense(pairs.b, s), dense(pairs.i, s), dense(pairs.j, s)});
}

mx::array composed_distances(const Pairing& pairs, Metric metric, mx::Stream s) {
  auto chosen = [&](const mx::array& points, const mx::array& indices) {
    return mx::astype(mx::take(points, indices, 0, s), mx::float32, s);
  };
  auto total = [&](const mx::array& terms) { return mx::sum(terms, 1, false, s); };
  auto x = chosen(pairs.a, pairs.i);
  auto y = chosen(pairs.b, pairs.j);
  auto d = mx::subtract(x, y, s);
  if (metric == Metric::Cosine) {
    auto cosines = total(mx::multiply(normalized(x, s), normalized(y, s), s));
    d = mx::subtract(mx::array(1.0f), cosines, s);
  } else if (metric == Metric::Manhattan) {
    d = total(mx::abs(d, s));
  } else {
    d = total(mx::square(d, s));
    d = metric == Metric::Euclidean ? root(d, s) : d;
  }
  return mx::astype(d, pairs.a.dtype(), s);
}

mx::array paired_gradient(const Pairing& pairs, const mx::array& d, const mx::array& g,
                          Metric metric, mx::Stream s) {
  auto [order, offsets] = group_rows(pairs.i, pairs.a.shape(0), s);
  Arrays inputs{dense(pairs.a, s),
                dense(pairs.b, s),
                dense(pairs.i, s),
                dense(pairs.j, s),
                dense(g, s),
                dense(d, s),
                order,
                offsets};
  if (metric == Metric::Cosine) {
    inputs.push_back(lengths_of(pairs.a, s));
    inputs.push_back(lengths_of(pairs.b, s));
  }
  return mx::array(pairs.a.shape(), pairs.a.dtype(), std::make_shared<PairedGradient>(s, metric),
                   std::move(inputs));
}

// ---- PairedDistance ----

Arrays PairedDistance::vjp(const Arrays& primals, const Arrays& cotangents,
                           const std::vector<int>& argnums, const Arrays& outputs) {
  auto pairs = pairing_of(primals);
  Arrays result;
  for (int input : argnums) {
    if (input < 2) {
      result.push_back(paired_gradient(input == 0 ? pairs : pairs.swapped(), outputs[0],
                                       cotangents[0], metric_, stream()));
    } else {
      result.push_back(mx::zeros_like(primals[input], stream()));
    }
  }
  return result;
}

Arrays PairedDistance::jvp(const Arrays& primals, const Arrays& tangents,
                           const std::vector<int>& argnums) {
  auto s = stream();
  auto distances = [&](const Arrays& points) -> Arrays {
    return {composed_distances({points[0], points[1], primals[2], primals[3]}, metric_, s)};
  };
  return mx::jvp(distances, {primals[0], primals[1]},
                 {tangent_of(0, primals, tangents, argnums, s),
                  tangent_of(1, primals, tangents, argnums, s)})
      .second;
}

std::pair<Arrays, std::vector<int>> PairedDistance::vmap(const Arrays& inputs,
                                                         const std::vector<int>& axes) {
  Batch batch(inputs, axes, stream());
  auto d = paired({batch.rows(0), batch.rows(1), batch.indices(2, 0), batch.indices(3, 1)}, metric_,
                  stream());
  return batch.apart(d, batch.count(2));
}

// ---- PairedGradient ----

Arrays PairedGradient::composed(const Arrays& inputs, const mx::array& i,
                                const mx::array& j) const {
  auto distances = [&](const Arrays& a) -> Arrays {
    return {composed_distances({a[0], inputs[1], i, j}, metric_, stream())};
  };
  return mx::vjp(distances, {inputs[0]}, {inputs[2]}).second;
}

Arrays PairedGradient::vjp(const Arrays& primals, const Arrays& cotangents,
                           const std::vector<int>& argnums, const Arrays&) {
  auto function = [&](const Arrays& in) { return composed(in, primals[2], primals[3]); };
  auto all = mx::vjp(function, {primals[0], primals[1], primals[4]}, cotangents).second;
  Arrays result;
  for (int input : argnums) {
    bool free = input < 2 || input == 4;
    result.push_back(free ? all[std::min(input, 2)] : mx::zeros_like(primals[input], stream()));
  }
  return result;
}

Arrays PairedGradient::jvp(const Arrays& primals, const Arrays& tangents,
                           const std::vector<int>& argnums) {
  auto function = [&](const Arrays& in) { return composed(in, primals[2], primals[3]); };
  Arrays moved;
  for (int input : {0, 1, 4}) {
    moved.push_back(tangent_of(input, primals, tangents, argnums, stream()));
  }
  return mx::jvp(function, {primals[0], primals[1], primals[4]}, moved).second;
}

std::pair<Arrays, std::vector<int>> PairedGradient::vmap(const Arrays& inputs,
                                                         const std::vector<int>& axes) {
  auto s = stream();
  Batch batch(inputs, axes, s);
  Pairing pairs{batch.rows(0, true), batch.rows(1), batch.indices(2, 0, true), batch.indices(3, 1)};
  auto out = paired_gradient(pairs, batch.rows(5, true), batch.rows(4, true), metric_, s);
  return batch.apart(out, batch.count(0));
}

}  // namespace mlx_sample
