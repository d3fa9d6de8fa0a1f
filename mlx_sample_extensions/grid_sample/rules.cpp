// Derivatives and vmap of sampling. Sampling is linear in the pictures and, between pixels, a
// polynomial in the grid: its derivatives are samplings with other weights.
#include "rules.h"

#include <algorithm>

#include "grid_sample/linear.h"

namespace mlx_sample {

namespace {

// Tangents by operand; none for an operand that is not differentiated.
class Tangents {
 public:
  Tangents(const Arrays& tangents, const std::vector<int>& argnums)
      : tangents_(tangents), argnums_(argnums) {}

  const mx::array* of(int operand) const {
    auto it = std::find(argnums_.begin(), argnums_.end(), operand);
    return it == argnums_.end() ? nullptr : &tangents_[it - argnums_.begin()];
  }

 private:
  const Arrays& tangents_;
  const std::vector<int>& argnums_;
};

// A sum of terms, all of which may be missing.
class Sum {
 public:
  Sum(mx::Shape shape, mx::Dtype dtype, mx::Stream s)
      : shape_(std::move(shape)), dtype_(dtype), stream_(s) {}

  void add(const mx::array& term) {
    terms_ = terms_.empty() ? Arrays{term} : Arrays{mx::add(terms_[0], term, stream_)};
  }
  mx::array value() const {
    return terms_.empty() ? mx::zeros(shape_, dtype_, stream_) : terms_[0];
  }

 private:
  mx::Shape shape_;
  mx::Dtype dtype_;
  mx::Stream stream_;
  Arrays terms_;
};

// The gradient in the grid of the sum of values * sample_moved(x, grid, by).
mx::array moved_gradient(const mx::array& x, const mx::array& grid, const mx::array& by,
                         const mx::array& values, const Sampling& how, mx::Stream s) {
  auto part = [&](const Sampling& derivative) {
    return mx::sum(mx::multiply(values, sample_moved(x, grid, by, derivative, s), s), 3, true, s);
  };
  return mx::concatenate({part(how.by_column()), part(how.by_row())}, 3, s);
}

}  // namespace

std::pair<Arrays, std::vector<int>> SamplingPrimitive::vmap(const Arrays& inputs,
                                                            const std::vector<int>& axes) {
  return map_batches(inputs, axes, [this](const Arrays& all) { return apply(all); }, stream());
}

// ---- GridSample ----

Arrays GridSample::apply(const Arrays& inputs) {
  return {sample(inputs[0], inputs[1], how_, stream())};
}

Arrays GridSample::jvp(const Arrays& primals, const Arrays& tangents,
                       const std::vector<int>& argnums) {
  auto& x = primals[0];
  auto& grid = primals[1];
  Tangents by(tangents, argnums);
  Sum sum({x.shape(0), grid.shape(1), grid.shape(2), x.shape(3)}, x.dtype(), stream());
  if (auto* dx = by.of(0)) {
    sum.add(sample(*dx, grid, how_, stream()));
  }
  if (auto* dgrid = by.of(1)) {
    sum.add(sample_moved(x, grid, *dgrid, how_, stream()));
  }
  return {sum.value()};
}

Arrays GridSample::vjp(const Arrays& primals, const Arrays& cotangents,
                       const std::vector<int>& argnums, const Arrays&) {
  auto& x = primals[0];
  auto& grid = primals[1];
  if (argnums == std::vector<int>{0}) {
    return {spread(cotangents[0], grid, how_, x.shape(1), x.shape(2), stream())};
  }
  auto both = sample_gradient(x, grid, cotangents[0], how_, stream());
  Arrays result;
  for (int operand : argnums) {
    result.push_back(both[operand]);
  }
  return result;
}

// ---- GridSpread ----

bool GridSpread::is_equivalent(const mx::Primitive& other) const {
  auto& o = static_cast<const GridSpread&>(other);
  return how_ == o.how_ && height_ == o.height_ && width_ == o.width_;
}

Arrays GridSpread::apply(const Arrays& inputs) {
  auto sums = spread(inputs[0], inputs[1], how_, height_, width_, stream());
  return {mx::astype(sums, mx::float32, stream())};
}

Arrays GridSpread::jvp(const Arrays& primals, const Arrays& tangents,
                       const std::vector<int>& argnums) {
  auto& values = primals[0];
  auto& grid = primals[1];
  Tangents by(tangents, argnums);
  Sum sum({values.shape(0), height_, width_, values.shape(3)}, mx::float32, stream());
  if (auto* dvalues = by.of(0)) {
    sum.add(spread(*dvalues, grid, how_, height_, width_, stream()));
  }
  if (auto* dgrid = by.of(1)) {
    sum.add(spread_moved(values, grid, *dgrid, how_, height_, width_, stream()));
  }
  return {mx::astype(sum.value(), mx::float32, stream())};
}

Arrays GridSpread::vjp(const Arrays& primals, const Arrays& cotangents,
                       const std::vector<int>& argnums, const Arrays&) {
  auto& values = primals[0];
  auto& grid = primals[1];
  auto cotangent = mx::astype(cotangents[0], values.dtype(), stream());
  Arrays result;
  for (int operand : argnums) {
    result.push_back(operand == 0 ? sample(cotangent, grid, how_, stream())
                                  : grid_gradient(cotangent, grid, values, how_, stream()));
  }
  return result;
}

// ---- GridSampleGradient ----

Arrays GridSampleGradient::apply(const Arrays& inputs) {
  auto both = sample_gradient(inputs[0], inputs[1], inputs[2], how_, stream());
  return {mx::astype(both[0], mx::float32, stream()), both[1]};
}

Arrays GridSampleGradient::jvp(const Arrays& primals, const Arrays& tangents,
                               const std::vector<int>& argnums) {
  auto& x = primals[0];
  auto& grid = primals[1];
  auto& values = primals[2];
  auto s = stream();
  Tangents by(tangents, argnums);
  Sum x_part(x.shape(), x.dtype(), s);
  Sum grid_part(grid.shape(), grid.dtype(), s);
  if (auto* dx = by.of(0)) {
    grid_part.add(grid_gradient(*dx, grid, values, how_, s));
  }
  if (auto* dgrid = by.of(1)) {
    x_part.add(spread_moved(values, grid, *dgrid, how_, x.shape(1), x.shape(2), s));
    grid_part.add(moved_gradient(x, grid, *dgrid, values, how_, s));
  }
  if (auto* dvalues = by.of(2)) {
    auto both = sample_gradient(x, grid, *dvalues, how_, s);
    x_part.add(both[0]);
    grid_part.add(both[1]);
  }
  return {mx::astype(x_part.value(), mx::float32, s), grid_part.value()};
}

Arrays GridSampleGradient::vjp(const Arrays& primals, const Arrays& cotangents,
                               const std::vector<int>& argnums, const Arrays&) {
  auto& x = primals[0];
  auto& grid = primals[1];
  auto& values = primals[2];
  auto s = stream();
  auto u = mx::astype(cotangents[0], x.dtype(), s);  // of the gradient of x
  auto& v = cotangents[1];                           // of the gradient of the grid
  Arrays result;
  for (int operand : argnums) {
    if (operand == 0) {
      result.push_back(spread_moved(values, grid, v, how_, x.shape(1), x.shape(2), s));
    } else if (operand == 1) {
      result.push_back(mx::add(grid_gradient(u, grid, values, how_, s),
                               moved_gradient(x, grid, v, values, how_, s), s));
    } else {
      result.push_back(mx::add(sample(u, grid, how_, s), sample_moved(x, grid, v, how_, s), s));
    }
  }
  return result;
}

}  // namespace mlx_sample
