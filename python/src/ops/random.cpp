// mlx.core.random: random numbers from explicit keys, or from the next key of an implicit sequence.
#include "mlx/random.h"

#include <chrono>
#include <optional>
#include <stdexcept>

#include "convert/arguments.h"
#include "convert/optional_int.h"
#include "mlx/ops.h"
#include "module.h"

using namespace pybind11::literals;
namespace random_ = mlx::core::random;

namespace {

const char* const kSeedDoc = R"(Restarts the implicit sequence of keys.

Args:
    seed: The seed, from 0 to 2**64 - 1. Equal seeds give equal numbers.)";

const char* const kKeyDoc = R"(Makes a key from a seed.

Args:
    seed: The seed, from 0 to 2**64 - 1.

Returns:
    The key, of shape (2,) and type uint32.

Example:
    >>> key = mx.random.key(0)
    >>> bool(mx.all(mx.random.normal((3,), key=key) == mx.random.normal((3,), key=key)))
    True)";

const char* const kRandomSplitDoc = R"(Makes several independent keys from one.

Args:
    key: The key.
    num: The number of new keys.

Returns:
    The keys, of shape (num, 2).

Example:
    >>> first, second = mx.random.split(mx.random.key(0)))";

const char* const kUniformDoc = R"(Draws uniformly distributed numbers from [low, high).

Args:
    low: The lower bounds, broadcast to `shape`.
    high: The upper bounds, broadcast to `shape`.
    shape: The shape of the result.
    dtype: The type of the numbers. None means float32.

Returns:
    The numbers, of shape `shape`.

Example:
    >>> mx.random.uniform(shape=(2, 3)).shape
    (2, 3))";

const char* const kNormalDoc =
    R"(normal(shape: int | Sequence[int] = (), dtype: Dtype | None = None, loc: scalar | array | None = None, scale: scalar | array | None = None, key: array | None = None, stream: StreamOrDevice = None) -> array

Draws normally distributed numbers.

Args:
    shape: The shape of the result.
    dtype: The type of the numbers. None means float32.
    loc: The means, broadcast to `shape`. None means 0.
    scale: The standard deviations, broadcast to `shape`. None means 1.

Returns:
    The numbers, of shape `shape`.)";

const char* const kMultivariateNormalDoc = R"(Draws normally distributed vectors.

Args:
    mean: The means, of shape (..., n).
    cov: The covariance matrices, of shape (..., n, n).
    shape: The shape of the result but for its last axis. Empty means that of the means.
    dtype: The type of the numbers. None means float32.

Returns:
    The vectors, of shape (*shape, n).)";

const char* const kTruncatedNormalDoc =
    R"(truncated_normal(lower: scalar | array, upper: scalar | array, shape: int | Sequence[int] | None = None, dtype: Dtype | None = None, key: array | None = None, stream: StreamOrDevice = None) -> array

Draws numbers of the standard normal distribution that lie within [lower, upper].

Args:
    lower: The lower bounds, broadcast to `shape`.
    upper: The upper bounds, broadcast to `shape`.
    shape: The shape of the result. None means that of the bounds.
    dtype: The type of the numbers. None means float32.

Returns:
    The numbers.)";

const char* const kGumbelDoc = R"(Draws numbers of the standard Gumbel distribution.

Args:
    shape: The shape of the result.
    dtype: The type of the numbers. None means float32.

Returns:
    The numbers, of shape `shape`.)";

const char* const kLaplaceDoc = R"(Draws numbers of the Laplace distribution.

Args:
    shape: The shape of the result.
    dtype: The type of the numbers. None means float32.
    loc: The mean.
    scale: The scale: the mean distance from `loc`.

Returns:
    The numbers, of shape `shape`.)";

const char* const kRandintDoc = R"(Draws uniformly distributed integers from [low, high).

Args:
    low: The lower bounds, broadcast to `shape`.
    high: The upper bounds, broadcast to `shape`.
    shape: The shape of the result.
    dtype: The type of the integers. None means int32.

Returns:
    The integers, of shape `shape`.)";

const char* const kBernoulliDoc =
    R"(bernoulli(p: scalar | array = 0.5, shape: int | Sequence[int] | None = None, key: array | None = None, stream: StreamOrDevice = None) -> array

Draws truth values.

Args:
    p: The probability of True, broadcast to `shape`.
    shape: The shape of the result. None means that of `p`.

Returns:
    The values, of type bool.)";

const char* const kCategoricalDoc =
    R"(categorical(logits: array, axis: int = -1, shape: int | Sequence[int] | None = None, num_samples: int | None = None, key: array | None = None, stream: StreamOrDevice = None) -> array

Draws indices with given probabilities.

Args:
    logits: The logarithms of the probabilities along an axis. They need not be normalised.
    axis: The axis of the probabilities.
    shape: The shape of the result. It broadcasts with that of `logits` without the axis.
    num_samples: How often to draw; this adds a last axis. At most one of `shape` and this can be given.

Returns:
    The indices, of type uint32.)";

const char* const kPermutationDoc =
    R"(permutation(x: int | array, axis: int = 0, key: array | None = None, stream: StreamOrDevice = None) -> array

Brings slices of an array into random order.

Args:
    x: The array. An int n means the numbers from 0 to n - 1.
    axis: The axis of the slices.

Returns:
    The array in its new order.)";

using Key = std::optional<mx::array>;

// The implicit sequence: a list with one key, so that it can be evaluated, saved and passed to
// `compile` as state. The interpreter's lock is held throughout, so threads never draw the same
// key.
py::list& state() {
  static py::list* list = [] {
    auto seed = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    auto* made = new py::list;
    made->append(random_::key(seed));
    return made;
  }();
  return *list;
}

mx::array next_key() {
  auto [first, second] = random_::split(state()[0].cast<mx::array>());
  state()[0] = py::cast(first);
  return second;
}

Key key_or_next(const mx::array* key) { return key ? *key : next_key(); }

std::optional<mx::Shape> optional_shape(const py::object& shape, const char* op) {
  if (shape.is_none()) return std::nullopt;
  Ints ints;
  if (!load_ints(shape, ints))
    throw py::type_error(std::string("[") + op + "] The shape must be a sequence of integers.");
  return to_shape(ints, (std::string("[") + op + "] shape").c_str());
}

std::optional<mx::array> optional_array(const py::object& value, mx::Dtype dtype) {
  if (value.is_none()) return std::nullopt;
  return to_array(value, dtype);
}

void define_keys(py::module_& m) {
  m.attr("state") = state();
  m.def(
      "seed", [](uint64_t seed) { state()[0] = py::cast(random_::key(seed)); }, "seed"_a, kSeedDoc);
  m.def("key", [](uint64_t seed) { return random_::key(seed); }, "seed"_a, kKeyDoc);
  m.def(
      "split",
      [](const mx::array& key, int num, StreamArg s) { return random_::split(key, num, s); },
      "key"_a, "num"_a = 2, "stream"_a = py::none(), kRandomSplitDoc);
}

void define_continuous(py::module_& m) {
  m.def(
      "uniform",
      [](const ArrayLike& low, const ArrayLike& high, const Ints& shape, const mx::Dtype* dtype,
         const mx::array* key, StreamArg s) {
        mx::Dtype type = type_or(dtype, mx::float32);
        return random_::uniform(to_array(low, type), to_array(high, type),
                                to_shape(shape, "[uniform] shape"), type, key_or_next(key), s);
      },
      "low"_a = 0, "high"_a = 1, "shape"_a = py::tuple(), "dtype"_a = py::none(),
      "key"_a = py::none(), "stream"_a = py::none(), kUniformDoc);
  m.def(
      "normal",
      [](const Ints& shape, const mx::Dtype* dtype, const py::object& loc, const py::object& scale,
         const mx::array* key, StreamArg s) {
        mx::Dtype type = type_or(dtype, mx::float32);
        return random_::normal(to_shape(shape, "[normal] shape"), type, optional_array(loc, type),
                               optional_array(scale, type), key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "loc"_a = py::none(), "scale"_a = py::none(),
      "key"_a = py::none(), "stream"_a = py::none(), kNormalDoc);
  m.def(
      "multivariate_normal",
      [](const mx::array& mean, const mx::array& cov, const Ints& shape, const mx::Dtype* dtype,
         const mx::array* key, StreamArg s) {
        return random_::multivariate_normal(mean, cov,
                                            to_shape(shape, "[multivariate_normal] shape"),
                                            type_or(dtype, mx::float32), key_or_next(key), s);
      },
      "mean"_a, "cov"_a, "shape"_a = py::tuple(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), kMultivariateNormalDoc);
  m.def(
      "truncated_normal",
      [](const ArrayLike& lower, const ArrayLike& upper, const py::object& shape,
         const mx::Dtype* dtype, const mx::array* key, StreamArg s) {
        mx::Dtype type = type_or(dtype, mx::float32);
        mx::array low = to_array(lower, type), high = to_array(upper, type);
        auto extents = optional_shape(shape, "truncated_normal");
        return extents ? random_::truncated_normal(low, high, *extents, type, key_or_next(key), s)
                       : random_::truncated_normal(low, high, type, key_or_next(key), s);
      },
      "lower"_a, "upper"_a, "shape"_a = py::none(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), kTruncatedNormalDoc);
  m.def(
      "gumbel",
      [](const Ints& shape, const mx::Dtype* dtype, const mx::array* key, StreamArg s) {
        return random_::gumbel(to_shape(shape, "[gumbel] shape"), type_or(dtype, mx::float32),
                               key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), kGumbelDoc);
  m.def(
      "laplace",
      [](const Ints& shape, const mx::Dtype* dtype, float loc, float scale, const mx::array* key,
         StreamArg s) {
        return random_::laplace(to_shape(shape, "[laplace] shape"), type_or(dtype, mx::float32),
                                loc, scale, key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "loc"_a = 0.0f, "scale"_a = 1.0f,
      "key"_a = py::none(), "stream"_a = py::none(), kLaplaceDoc);
}

mx::array categorical(const mx::array& logits, int axis, const py::object& shape,
                      const OptionalInt& num_samples, const mx::array* key, mx::StreamOrDevice s) {
  if (!shape.is_none() && num_samples) {
    throw std::invalid_argument("[categorical] At most one of shape and num_samples can be given.");
  }
  if (auto extents = optional_shape(shape, "categorical")) {
    return random_::categorical(logits, axis, *extents, key_or_next(key), s);
  }
  if (num_samples) return random_::categorical(logits, axis, *num_samples, key_or_next(key), s);
  return random_::categorical(logits, axis, key_or_next(key), s);
}

void define_discrete(py::module_& m) {
  m.def(
      "randint",
      [](const ArrayLike& low, const ArrayLike& high, const Ints& shape, const mx::Dtype* dtype,
         const mx::array* key, StreamArg s) {
        return random_::randint(to_array(low), to_array(high), to_shape(shape, "[randint] shape"),
                                type_or(dtype, mx::int32), key_or_next(key), s);
      },
      "low"_a, "high"_a, "shape"_a = py::tuple(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), kRandintDoc);
  m.def(
      "bernoulli",
      [](const ArrayLike& p, const py::object& shape, const mx::array* key, StreamArg s) {
        mx::array chance = to_array(p);
        auto extents = optional_shape(shape, "bernoulli");
        return extents ? random_::bernoulli(chance, *extents, key_or_next(key), s)
                       : random_::bernoulli(chance, key_or_next(key), s);
      },
      "p"_a = 0.5, "shape"_a = py::none(), "key"_a = py::none(), "stream"_a = py::none(),
      kBernoulliDoc);
  m.def(
      "categorical",
      [](const mx::array& logits, int axis, const py::object& shape, const OptionalInt& num_samples,
         const mx::array* key,
         StreamArg s) { return categorical(logits, axis, shape, num_samples, key, s); },
      "logits"_a, "axis"_a = -1, "shape"_a = py::none(), "num_samples"_a = py::none(),
      "key"_a = py::none(), "stream"_a = py::none(), kCategoricalDoc);
  m.def(
      "permutation",
      [](const py::object& x, int axis, const mx::array* key, StreamArg s) {
        if (is_array(x))
          return random_::permutation(x.cast<mx::array>(), axis, key_or_next(key), s);
        return random_::permutation(to_int(x, "[permutation] x"), key_or_next(key), s);
      },
      "x"_a, "axis"_a = 0, "key"_a = py::none(), "stream"_a = py::none(), kPermutationDoc);
}

}  // namespace

void init_random(py::module_& parent) {
  py::module_ m = parent.def_submodule("random", "Random numbers.");
  define_keys(m);
  define_continuous(m);
  define_discrete(m);
}
