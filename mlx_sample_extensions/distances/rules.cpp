// Derivatives and vmap of distances. The derivatives are sums of products of the differences a - b.
// These are expanded, so that no array is larger than a matrix of all pairs.
#include "distances/primitives.h"
#include "mlx/transforms.h"

namespace mlx_sample {

namespace {

mx::array transposed(const mx::array& a, mx::Stream s) { return mx::swapaxes(a, 1, 2, s); }

// Column k of points as (B, N, 1), or (B, 1, N).
mx::array column(const mx::array& points, int k, bool across, mx::Stream s) {
  auto c = mx::slice(points, {0, 0, k}, {points.shape(0), points.shape(1), k + 1}, s);
  return across ? transposed(c, s) : c;
}

// sum_c (a_ic - b_jc) (u_ic - v_jc) for all pairs.
mx::array products(const mx::array& a, const mx::array& b, const mx::array& u, const mx::array& v,
                   mx::Stream s) {
  auto own = mx::sum(mx::multiply(a, u, s), 2, true, s);
  auto other = transposed(mx::sum(mx::multiply(b, v, s), 2, true, s), s);
  auto crossed = mx::add(mx::matmul(u, transposed(b, s), s), mx::matmul(a, transposed(v, s), s), s);
  return mx::subtract(mx::add(own, other, s), crossed, s);
}

// sum_c sign(a_ic - b_jc) (u_ic - v_jc) for all pairs, one coordinate at a time.
mx::array signed_sums(const mx::array& a, const mx::array& b, const mx::array& u,
                      const mx::array& v, mx::Stream s) {
  auto sum = mx::zeros({a.shape(0), a.shape(1), b.shape(1)}, mx::float32, s);
  for (int k = 0; k < a.shape(2); ++k) {
    auto difference = [&](const mx::array& x, const mx::array& y) {
      return mx::subtract(column(x, k, false, s), column(y, k, true, s), s);
    };
    sum = mx::add(sum, mx::multiply(mx::sign(difference(a, b), s), difference(u, v), s), s);
  }
  return sum;
}

// x / d, and 0 where d is 0.
mx::array divided(const mx::array& x, const mx::array& d, mx::Stream s) {
  auto apart = mx::greater(d, mx::array(0.0f), s);
  auto safe = mx::where(apart, d, mx::array(1.0f), s);
  return mx::where(apart, mx::divide(x, safe, s), mx::array(0.0f), s);
}

mx::array widened(const mx::array& a, mx::Stream s) { return mx::astype(a, mx::float32, s); }

}  // namespace

mx::array pairwise(const mx::array& a, const mx::array& b, Metric metric, mx::Dtype dtype,
                   mx::Stream s) {
  return mx::array({a.shape(0), a.shape(1), b.shape(1)}, dtype,
                   std::make_shared<PairwiseDistance>(s, metric, dtype),
                   {dense(a, s), dense(b, s)});
}

Arrays pairwise_gradients(const mx::array& a, const mx::array& b, const mx::array& d,
                          const mx::array& g, Metric metric, bool by_a, bool by_b, mx::Stream s) {
  std::vector<mx::Shape> shapes;
  if (by_a) {
    shapes.push_back(a.shape());
  }
  if (by_b) {
    shapes.push_back(b.shape());
  }
  return mx::array::make_arrays(
      shapes, std::vector<mx::Dtype>(shapes.size(), mx::float32),
      std::make_shared<PairwiseGradient>(s, metric, by_a, by_b),
      {dense(a, s), dense(b, s), dense(widened(d, s), s), dense(widened(g, s), s)});
}

std::pair<Arrays, std::vector<int>> PairwisePrimitive::vmap(const Arrays& inputs,
                                                            const std::vector<int>& axes) {
  return map_batches(inputs, axes, [this](const Arrays& all) { return apply(all); }, stream());
}

// ---- PairwiseDistance ----

Arrays PairwiseDistance::apply(const Arrays& inputs) {
  return {pairwise(inputs[0], inputs[1], metric_, dtype_, stream())};
}

Arrays PairwiseDistance::jvp(const Arrays& primals, const Arrays& tangents,
                             const std::vector<int>& argnums) {
  auto s = stream();
  auto& a = primals[0];
  auto& b = primals[1];
  auto u = tangent_of(0, primals, tangents, argnums, s);
  auto v = tangent_of(1, primals, tangents, argnums, s);
  auto moved = metric_ == Metric::Manhattan ? signed_sums(a, b, u, v, s) : products(a, b, u, v, s);
  if (metric_ == Metric::SquaredEuclidean) {
    moved = mx::multiply(mx::array(2.0f), moved, s);
  } else if (metric_ == Metric::Euclidean) {
    moved = divided(moved, pairwise(a, b, metric_, mx::float32, s), s);
  }
  return {mx::astype(moved, dtype_, s)};
}

Arrays PairwiseDistance::vjp(const Arrays& primals, const Arrays& cotangents,
                             const std::vector<int>& argnums, const Arrays& outputs) {
  bool wanted[2] = {};
  for (int input : argnums) {
    wanted[input] = true;
  }
  auto both = pairwise_gradients(primals[0], primals[1], outputs[0], cotangents[0], metric_,
                                 wanted[0], wanted[1], stream());
  Arrays result;
  for (int input : argnums) {
    result.push_back(both[input == 1 && wanted[0]]);
  }
  return result;
}

// ---- PairwiseGradient ----

Arrays PairwiseGradient::apply(const Arrays& inputs) {
  return pairwise_gradients(inputs[0], inputs[1], inputs[2], inputs[3], metric_, by_a_, by_b_,
                            stream());
}

Arrays PairwiseGradient::composed(const Arrays& inputs) const {
  auto s = stream();
  auto& a = inputs[0];
  auto& b = inputs[1];
  auto w = metric_ == Metric::Euclidean ? divided(inputs[3], inputs[2], s)
                                        : mx::multiply(mx::array(2.0f), inputs[3], s);
  auto pull = [&](const mx::array& x, const mx::array& y, const mx::array& weights) {
    auto sums = mx::sum(weights, 2, true, s);
    return mx::subtract(mx::multiply(sums, x, s), mx::matmul(weights, y, s), s);
  };
  Arrays result;
  if (by_a_) {
    result.push_back(pull(a, b, w));
  }
  if (by_b_) {
    result.push_back(pull(b, a, transposed(w, s)));
  }
  return result;
}

Arrays PairwiseGradient::vjp(const Arrays& primals, const Arrays& cotangents,
                             const std::vector<int>& argnums, const Arrays&) {
  auto s = stream();
  Arrays all;
  if (metric_ == Metric::Manhattan) {
    // Piecewise constant in a and b, and linear in g.
    auto u = by_a_ ? cotangents[0] : mx::zeros_like(primals[0], s);
    auto v = by_b_ ? cotangents[by_a_] : mx::zeros_like(primals[1], s);
    for (int i = 0; i < 3; ++i) {
      all.push_back(mx::zeros_like(primals[i], s));
    }
    all.push_back(signed_sums(primals[0], primals[1], u, v, s));
  } else {
    all = mx::vjp([this](const Arrays& in) { return composed(in); }, primals, cotangents).second;
  }
  Arrays result;
  for (int input : argnums) {
    result.push_back(all[input]);
  }
  return result;
}

Arrays PairwiseGradient::jvp(const Arrays& primals, const Arrays& tangents,
                             const std::vector<int>& argnums) {
  auto s = stream();
  Arrays all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(tangent_of(i, primals, tangents, argnums, s));
  }
  if (metric_ == Metric::Manhattan) {
    return pairwise_gradients(primals[0], primals[1], primals[2], all[3], metric_, by_a_, by_b_, s);
  }
  return mx::jvp([this](const Arrays& in) { return composed(in); }, primals, all).second;
}

}  // namespace mlx_sample
