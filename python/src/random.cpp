// mlx.core.random: random numbers from keys, explicit ones or the next of an implicit sequence.
#include "mlx/random.h"

#include <chrono>
#include <optional>
#include <stdexcept>

#include "arguments.h"
#include "mlx/ops.h"
#include "module.h"
#include "optional_int.h"

using namespace pybind11::literals;
namespace random_ = mlx::core::random;

namespace {

using Key = std::optional<mx::array>;

// The implicit sequence: a list with one key, so that it can be evaluated, saved and given to
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

mx::Dtype type_or(const mx::Dtype* dtype, mx::Dtype fallback) { return dtype ? *dtype : fallback; }

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
      "seed", [](uint64_t seed) { state()[0] = py::cast(random_::key(seed)); }, "seed"_a,
      "Restarts the implicit sequence of keys.");
  m.def(
      "key", [](uint64_t seed) { return random_::key(seed); }, "seed"_a, "A key made from a seed.");
  m.def(
      "split",
      [](const mx::array& key, int num, StreamArg s) { return random_::split(key, num, s); },
      "key"_a, "num"_a = 2, "stream"_a = py::none(), "Several independent keys made from one.");
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
      "key"_a = py::none(), "stream"_a = py::none(), "Uniform numbers in [low, high).");
  m.def(
      "normal",
      [](const Ints& shape, const mx::Dtype* dtype, const py::object& loc, const py::object& scale,
         const mx::array* key, StreamArg s) {
        mx::Dtype type = type_or(dtype, mx::float32);
        return random_::normal(to_shape(shape, "[normal] shape"), type, optional_array(loc, type),
                               optional_array(scale, type), key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "loc"_a = py::none(), "scale"_a = py::none(),
      "key"_a = py::none(), "stream"_a = py::none(),
      "Normal numbers with mean loc and standard deviation scale.");
  m.def(
      "multivariate_normal",
      [](const mx::array& mean, const mx::array& cov, const Ints& shape, const mx::Dtype* dtype,
         const mx::array* key, StreamArg s) {
        return random_::multivariate_normal(mean, cov,
                                            to_shape(shape, "[multivariate_normal] shape"),
                                            type_or(dtype, mx::float32), key_or_next(key), s);
      },
      "mean"_a, "cov"_a, "shape"_a = py::tuple(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), "Normal vectors with a mean and a covariance matrix.");
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
      "stream"_a = py::none(), "Standard normal numbers within [lower, upper].");
  m.def(
      "gumbel",
      [](const Ints& shape, const mx::Dtype* dtype, const mx::array* key, StreamArg s) {
        return random_::gumbel(to_shape(shape, "[gumbel] shape"), type_or(dtype, mx::float32),
                               key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "key"_a = py::none(),
      "stream"_a = py::none(), "Standard Gumbel numbers.");
  m.def(
      "laplace",
      [](const Ints& shape, const mx::Dtype* dtype, float loc, float scale, const mx::array* key,
         StreamArg s) {
        return random_::laplace(to_shape(shape, "[laplace] shape"), type_or(dtype, mx::float32),
                                loc, scale, key_or_next(key), s);
      },
      "shape"_a = py::tuple(), "dtype"_a = py::none(), "loc"_a = 0.0f, "scale"_a = 1.0f,
      "key"_a = py::none(), "stream"_a = py::none(),
      "Laplace numbers with mean loc and scale scale.");
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
      "stream"_a = py::none(), "Uniform integers in [low, high).");
  m.def(
      "bernoulli",
      [](const ArrayLike& p, const py::object& shape, const mx::array* key, StreamArg s) {
        mx::array chance = to_array(p, mx::float32);
        auto extents = optional_shape(shape, "bernoulli");
        return extents ? random_::bernoulli(chance, *extents, key_or_next(key), s)
                       : random_::bernoulli(chance, key_or_next(key), s);
      },
      "p"_a = 0.5, "shape"_a = py::none(), "key"_a = py::none(), "stream"_a = py::none(),
      "True with probability p.");
  m.def(
      "categorical",
      [](const mx::array& logits, int axis, const py::object& shape, const OptionalInt& num_samples,
         const mx::array* key,
         StreamArg s) { return categorical(logits, axis, shape, num_samples, key, s); },
      "logits"_a, "axis"_a = -1, "shape"_a = py::none(), "num_samples"_a = py::none(),
      "key"_a = py::none(), "stream"_a = py::none(),
      "Indices with probabilities given by unnormalised logarithms along an axis.");
  m.def(
      "permutation",
      [](const py::object& x, int axis, const mx::array* key, StreamArg s) {
        if (is_array(x))
          return random_::permutation(x.cast<mx::array>(), axis, key_or_next(key), s);
        return random_::permutation(to_int(x, "[permutation] x"), key_or_next(key), s);
      },
      "x"_a, "axis"_a = 0, "key"_a = py::none(), "stream"_a = py::none(),
      "The slices of an array along an axis in random order; for an integer those of arange(x).");
}

}  // namespace

void init_random(py::module_& parent) {
  py::module_ m = parent.def_submodule("random", "Random numbers.");
  define_keys(m);
  define_continuous(m);
  define_discrete(m);
}
