// Random numbers: all distributions are computed from the bits that Threefry gives for a key.
#include "mlx/random.h"

#include <chrono>
#include <cmath>
#include <mutex>

#include "mlx/errors.h"
#include "mlx/linalg.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/creation.h"

namespace mlx::core::random {

namespace {

std::recursive_mutex& sequence_mutex() {
  static auto* mutex = new std::recursive_mutex();
  return *mutex;
}

array key_or_next(const std::optional<array>& key) {
  return key ? *key : KeySequence::default_().next();
}

Shape with_last(Shape shape, int n) {
  shape.push_back(n);
  return shape;
}

void check_floating(Dtype dtype, const char* op) {
  if (!issubdtype(dtype, floating)) {
    invalid_argument(op, message("The type must be a floating point type, not ", dtype, "."));
  }
}

// float32 values in [-1, 1), never -1.
array symmetric_uniform(const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  return uniform(array(std::nextafter(-1.0f, 0.0f)), array(1.0f), shape, float32, key, s);
}

}  // namespace

KeySequence::KeySequence(uint64_t seed) : key_(random::key(seed)) {}

void KeySequence::seed(uint64_t seed) {
  std::lock_guard lock(sequence_mutex());
  key_ = random::key(seed);
}

array KeySequence::next() {
  std::lock_guard lock(sequence_mutex());
  auto [kept, given] = random::split(key_);
  key_ = kept;
  return given;
}

KeySequence& KeySequence::default_() {
  static auto* sequence =
      new KeySequence(std::chrono::system_clock::now().time_since_epoch().count());
  return *sequence;
}

array key(uint64_t seed) {
  uint32_t words[2] = {static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(seed)};
  return array(words, {2}, uint32);
}

void seed(uint64_t seed) { KeySequence::default_().seed(seed); }

array bits(const Shape& shape, int width, const std::optional<array>& key, StreamOrDevice s) {
  if (width != 1 && width != 2 && width != 4) {
    invalid_argument("bits", message("The width must be 1, 2 or 4 bytes, not ", width, "."));
  }
  array k = key_or_next(key);
  if (k.dtype() != uint32 || k.shape() != Shape{2}) {
    invalid_argument("bits", message("A key is an array of uint32 of shape (2), not of ", k.dtype(),
                                     " of shape ", k.shape(), "."));
  }
  Dtype dtype = width == 1 ? uint8 : width == 2 ? uint16 : uint32;
  return array(shape, dtype, std::make_shared<RandomBits>(to_stream(s), shape, width), {k});
}

array split(const array& key, int num, StreamOrDevice s) {
  if (num < 0) {
    invalid_argument("split",
                     message("The number of keys must not be negative, but is ", num, "."));
  }
  return bits({num, 2}, 4, key, s);
}

std::pair<array, array> split(const array& key, StreamOrDevice s) {
  array both = random::split(key, 2, s);
  return {take(both, 0, 0, s), take(both, 1, 0, s)};
}

array uniform(const array& low, const array& high, const Shape& shape, Dtype dtype,
              const std::optional<array>& key, StreamOrDevice s) {
  check_floating(dtype, "uniform");
  Stream stream = to_stream(s);
  array lo = astype(low, dtype, stream);
  array range = subtract(astype(high, dtype, stream), lo, stream);
  if (broadcast_shapes(shape, range.shape()) != shape) {
    invalid_argument(
        "uniform", message("Bounds of shape ", range.shape(), " do not broadcast to ", shape, "."));
  }
  // The quotient is rounded: the largest one must stay below 1 in the requested type.
  double below_one = 1 - finfo(dtype == float64 ? float32 : dtype).eps / 2;
  array unit = divide(bits(shape, 4, key, stream), array(4294967296.0f), stream);
  unit = astype(minimum(unit, array(below_one, float32), stream), dtype, stream);
  return add(multiply(range, unit, stream), lo, stream);
}

array uniform(const Shape& shape, Dtype dtype, const std::optional<array>& key, StreamOrDevice s) {
  return uniform(array(0.0f), array(1.0f), shape, dtype, key, s);
}

array uniform(const Shape& shape, const std::optional<array>& key, StreamOrDevice s) {
  return uniform(shape, float32, key, s);
}

array normal(const Shape& shape, Dtype dtype, const std::optional<array>& loc,
             const std::optional<array>& scale, const std::optional<array>& key, StreamOrDevice s) {
  if (!issubdtype(dtype, inexact)) {
    invalid_argument(
        "normal", message("The type must be a floating point or complex type, not ", dtype, "."));
  }
  Stream stream = to_stream(s);
  bool is_complex = dtype == complex64;
  Shape drawn = is_complex ? with_last(shape, 2) : shape;
  array samples = erfinv(symmetric_uniform(drawn, key, stream), stream);
  // A complex number has variance 1, half of it in each part.
  samples = is_complex ? reshape(view(samples, complex64, stream), shape, stream)
                       : astype(multiply(array(std::sqrt(2.0f)), samples, stream), dtype, stream);
  if (scale) {
    samples = multiply(samples, astype(*scale, dtype, stream), stream);
  }
  return loc ? add(samples, astype(*loc, dtype, stream), stream) : samples;
}

array normal(const Shape& shape, Dtype dtype, const float loc, const float scale,
             const std::optional<array>& key, StreamOrDevice s) {
  auto unless = [](float value, float neutral) {
    return value == neutral ? std::nullopt : std::optional<array>(array(value));
  };
  return normal(shape, dtype, unless(loc, 0.0f), unless(scale, 1.0f), key, s);
}

array multivariate_normal(const array& mean, const array& cov, const Shape& shape, Dtype dtype,
                          const std::optional<array>& key, StreamOrDevice s) {
  if (dtype != float32) {
    invalid_argument("multivariate_normal", message("The type must be float32, not ", dtype, "."));
  }
  if (mean.ndim() < 1 || cov.ndim() < 2 || cov.shape(-1) != cov.shape(-2) ||
      cov.shape(-1) != mean.shape(-1)) {
    invalid_argument("multivariate_normal",
                     message("A mean of shape (..,n) and a covariance of shape (..,n,n) are "
                             "needed, but the shapes are ",
                             mean.shape(), " and ", cov.shape(), "."));
  }
  Stream stream = to_stream(s);
  int n = mean.shape(-1);
  Shape batch = broadcast_shapes(Shape(mean.shape().begin(), mean.shape().end() - 1),
                                 Shape(cov.shape().begin(), cov.shape().end() - 2));
  Shape out_batch = shape.empty() ? batch : broadcast_shapes(shape, batch);
  if (!shape.empty() && out_batch != shape) {
    invalid_argument("multivariate_normal", message("Parameters of batch shape ", batch,
                                                    " do not broadcast to ", shape, "."));
  }
  // The symmetric square root of the covariance. SVD works for singular matrices too.
  auto parts = linalg::svd(astype(cov, float32, stream), true, stream);
  array scaled = multiply(parts[0], expand_dims(sqrt(parts[1], stream), -2, stream), stream);
  array root = matmul(scaled, parts[2], stream);
  array z = normal(with_last(with_last(out_batch, 1), n), float32, key, stream);
  array samples = squeeze(matmul(z, root, stream), -2, stream);
  return add(samples, astype(mean, float32, stream), stream);
}

array randint(const array& low, const array& high, const Shape& shape, Dtype dtype,
              const std::optional<array>& key, StreamOrDevice s) {
  if (!issubdtype(dtype, integer) && dtype != bool_) {
    invalid_argument("randint",
                     message("The type must be an integer type or bool, not ", dtype, "."));
  }
  // Rounding may give numbers outside the range, as do empty ranges: clamps them.
  array samples = astype(floor(uniform(low, high, shape, float32, key, s), s), dtype, s);
  array one(1, high.dtype() == bool_ ? int32 : high.dtype());
  array last = astype(subtract(high, one, s), dtype, s);
  return maximum(minimum(samples, last, s), astype(low, dtype, s), s);
}

array bernoulli(const array& p, const Shape& shape, const std::optional<array>& key,
                StreamOrDevice s) {
  if (!issubdtype(p.dtype(), floating)) {
    invalid_argument("bernoulli", message("The probability must be of a floating point type, not ",
                                          p.dtype(), "."));
  }
  if (broadcast_shapes(shape, p.shape()) != shape) {
    invalid_argument("bernoulli", message("Probabilities of shape ", p.shape(),
                                          " do not broadcast to ", shape, "."));
  }
  return less(uniform(shape, float32, key, s), p, s);
}

array bernoulli(const array& p, const std::optional<array>& key, StreamOrDevice s) {
  return bernoulli(p, p.shape(), key, s);
}

array bernoulli(const std::optional<array>& key, StreamOrDevice s) {
  return bernoulli(array(0.5f), key, s);
}

array truncated_normal(const array& lower, const array& upper, const Shape& shape, Dtype dtype,
                       const std::optional<array>& key, StreamOrDevice s) {
  check_floating(dtype, "truncated_normal");
  // Draws uniformly between the error functions of the bounds.
  array root_two(std::sqrt(2.0f));
  array lo = astype(lower, float32, s);
  array hi = astype(upper, float32, s);
  array u = uniform(erf(divide(lo, root_two, s), s), erf(divide(hi, root_two, s), s), shape,
                    float32, key, s);
  array samples = multiply(root_two, erfinv(u, s), s);
  return astype(maximum(minimum(samples, hi, s), lo, s), dtype, s);
}

array truncated_normal(const array& lower, const array& upper, Dtype dtype,
                       const std::optional<array>& key, StreamOrDevice s) {
  return truncated_normal(lower, upper, broadcast_shapes(lower.shape(), upper.shape()), dtype, key,
                          s);
}

array gumbel(const Shape& shape, Dtype dtype, const std::optional<array>& key, StreamOrDevice s) {
  check_floating(dtype, "gumbel");
  array u = uniform(shape, float32, key, s);
  return astype(negative(log(negative(log(u, s), s), s), s), dtype, s);
}

namespace {

int checked_axis(const array& logits, int axis) {
  return normalize_axis_index(axis, rank(logits), "categorical");
}

Shape without_axis(const array& a, int axis) {
  Shape shape = a.shape();
  shape.erase(shape.begin() + axis);
  return shape;
}

// The index of the largest sum of a logit and Gumbel noise has the wanted distribution.
array draw(const array& logits, int axis, const Shape& noise_shape, const std::optional<array>& key,
           StreamOrDevice s) {
  return argmax(add(logits, gumbel(noise_shape, float32, key, s), s), axis, false, s);
}

// Draws many numbers of one distribution: each is the first index whose cumulative probability
// exceeds a uniform number.
array draw_by_inversion(const array& logits, const Shape& shape, const std::optional<array>& key,
                        StreamOrDevice s) {
  array chances = softmax(astype(reshape(logits, {-1}, s), float32, s), 0, true, s);
  array cumulative = cumsum(chances, 0, false, true, s);
  array index = searchsorted(cumulative, uniform(shape, float32, key, s), true, s);
  return minimum(index, array(logits.size() - 1, uint32), s);
}

// Whether several numbers are drawn from a single distribution.
bool is_one_distribution(const array& logits, int axis, const Shape& shape) {
  return !shape.empty() && logits.size() > 0 &&
         logits.size() == static_cast<size_t>(logits.shape(axis));
}

}  // namespace

array categorical(const array& logits, int given_axis, const Shape& shape,
                  const std::optional<array>& key, StreamOrDevice s) {
  int axis = checked_axis(logits, given_axis);
  Shape reduced = without_axis(logits, axis);
  if (broadcast_shapes(shape, reduced) != shape) {
    invalid_argument("categorical", message("Shape ", shape, " does not fit logits of shape ",
                                            logits.shape(), " without axis ", axis, "."));
  }
  if (is_one_distribution(logits, axis, shape)) return draw_by_inversion(logits, shape, key, s);
  int at = axis + static_cast<int>(shape.size() - reduced.size());
  Shape noise_shape = shape;
  noise_shape.insert(noise_shape.begin() + at, logits.shape(axis));
  return draw(logits, at, noise_shape, key, s);
}

array categorical(const array& logits, int given_axis, int num_samples,
                  const std::optional<array>& key, StreamOrDevice s) {
  int axis = checked_axis(logits, given_axis);
  const Shape shape = with_last(without_axis(logits, axis), num_samples);
  if (is_one_distribution(logits, axis, shape)) return draw_by_inversion(logits, shape, key, s);
  return draw(expand_dims(logits, -1, s), axis, with_last(logits.shape(), num_samples), key, s);
}

array categorical(const array& logits, int given_axis, const std::optional<array>& key,
                  StreamOrDevice s) {
  int axis = checked_axis(logits, given_axis);
  return draw(logits, axis, logits.shape(), key, s);
}

array laplace(const Shape& shape, Dtype dtype, const float loc, const float scale,
              const std::optional<array>& key, StreamOrDevice s) {
  check_floating(dtype, "laplace");
  array u = symmetric_uniform(shape, key, s);
  array samples = multiply(sign(u, s), log1p(negative(abs(u, s), s), s), s);
  return astype(add(array(loc), multiply(array(scale), samples, s), s), dtype, s);
}

array permutation(const array& x, int axis, const std::optional<array>& key, StreamOrDevice s) {
  axis = normalize_axis_index(axis, rank(x), "permutation");
  return take(x, permutation(x.shape(axis), key, s), axis, s);
}

array permutation(int x, const std::optional<array>& key, StreamOrDevice s) {
  if (x < 0) {
    invalid_argument("permutation",
                     message("The number of elements must not be negative, but is ", x, "."));
  }
  return argsort(bits({x}, 4, key, s), 0, s);
}

}  // namespace mlx::core::random
