// The gated delta rule (Yang et al., 2025), computed in chunks of positions. The change of the
// state in a chunk follows from triangular systems, so that only one step per chunk depends on the
// chunk before.
#include <algorithm>

#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/linalg.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"

namespace mlx::core::fast {

namespace {

constexpr const char* kOp = "gated_delta_update";

void check(bool holds, const std::string& what) {
  if (!holds) invalid_argument(kOp, what);
}

void check_shape(const array& a, const char* name, const Shape& wanted) {
  check(a.shape() == wanted,
        message(name, " must have the shape ", wanted, ", not ", a.shape(), "."));
}

void check_gated_delta(const array& q, const array& k, const array& v, const array& gamma,
                       const array& beta, const std::optional<array>& state,
                       const std::optional<array>& mask) {
  check(q.ndim() == 4 && v.ndim() == 4,
        message("q and v must have 4 dimensions, but have the shapes ", q.shape(), " and ",
                v.shape(), "."));
  check_shape(k, "k", q.shape());
  const int batch = q.shape(0), length = q.shape(1), heads = v.shape(2), width = q.shape(3);
  check(v.shape(0) == batch && v.shape(1) == length && q.shape(2) > 0 && heads % q.shape(2) == 0,
        message("v must have the batch and the length of q and a multiple of its heads, but has "
                "the shape ",
                v.shape(), " where q has ", q.shape(), "."));
  if (gamma.ndim() == 4) {
    check_shape(gamma, "gamma", {batch, length, heads, width});
  } else {
    check_shape(gamma, "gamma", {batch, length, heads});
  }
  check_shape(beta, "beta", {batch, length, heads});
  if (state) check_shape(*state, "initial_state", {batch, heads, v.shape(3), width});
  if (mask) check_shape(*mask, "mask", {batch, length});
  for (const array* a : {&q, &k, &v, &gamma, &beta}) {
    check(issubdtype(a->dtype(), floating),
          message("The arrays must be of floating types, not ", a->dtype(), "."));
  }
}

// Cuts (B, T, H, D) into chunks, (B, H, T / size, size, D). Positions that hold `filling` are added
// at the end, so that the last chunk is complete.
array chunks(const array& a, int size, double filling, const Stream& s) {
  array x = astype(a, float32, s);
  const int missing = (size - a.shape(1) % size) % size;
  x = pad(x, {1}, {0}, {missing}, array(static_cast<float>(filling)), "constant", s);
  x = transpose(x, {0, 2, 1, 3}, s);
  return reshape(x, {x.shape(0), x.shape(1), x.shape(2) / size, size, x.shape(3)}, s);
}

array transposed(const array& a, const Stream& s) { return swapaxes(a, -1, -2, s); }

// The parts of the chunks' results that do not depend on the state, all of (B, H, N, ...).
struct Chunks {
  array added;     // C x Dv: what the values add to the state
  array taken;     // C x Dk: what is subtracted, times the state
  array seen;      // C x C: how queries see what earlier positions of the chunk have added
  array queries;   // C x Dk, to multiply with the state at the chunk's start
  array keys;      // C x Dk, decayed to the chunk's end
  array retained;  // Dk x 1 or 1 x 1: the decay of the state over the chunk

  Chunks(const array& q, const array& k, const array& v, const array& gamma, const array& beta,
         const Stream& s);
};

// Products of rows i of `a` with rows j of `b`, each times the decay from j to i: zero for j > i.
array decayed_products(const array& a, const array& b, const array& decay, const Stream& s) {
  if (decay.shape(-1) == 1)
    return multiply(matmul(a, transposed(b, s), s), squeeze(decay, -1, s), s);
  array pairs = multiply(expand_dims(a, -2, s), expand_dims(b, -3, s), s);
  return sum(multiply(pairs, decay, s), -1, false, s);
}

// The products of gamma over the positions from j + 1 to i, (B, H, N, i, j, D): zero for j > i.
array decays(const array& gamma, const Stream& s) {
  const int size = gamma.shape(-2);
  array later = expand_dims(tri(size, size, -1, bool_, s), -1, s);
  array factors = where(later, expand_dims(gamma, -2, s), scalar(1, gamma), s);
  array products = cumprod(factors, rank(factors) - 3, false, true, s);
  array earlier = expand_dims(tri(size, size, 0, bool_, s), -1, s);
  return where(earlier, products, scalar(0, gamma), s);
}

Chunks::Chunks(const array& q, const array& k, const array& v, const array& gamma,
               const array& beta, const Stream& s)
    : added(v), taken(k), seen(q), queries(q), keys(k), retained(gamma) {
  const int size = k.shape(-2);
  array since_start = cumprod(gamma, 3, false, true, s);
  array decay = decays(gamma, s);
  // Each position subtracts what the state, with earlier positions' additions, gives for its key.
  array strictly = tri(size, size, -1, float32, s);
  array system = multiply(beta, multiply(decayed_products(k, k, decay, s), strictly, s), s);
  array rest = multiply(since_start, k, s);
  array solved = linalg::solve_triangular(
      add(system, eye(size, size, 0, float32, s), s),
      concatenate({multiply(beta, v, s), multiply(beta, rest, s)}, -1, s), false, s);
  auto parts = split(solved, Shape{v.shape(-1)}, -1, s);
  added = parts[0];
  taken = parts[1];
  seen = decayed_products(q, k, decay, s);
  queries = multiply(since_start, q, s);
  keys = multiply(take(decay, size - 1, 3, s), k, s);
  retained = transposed(take(since_start, array({size - 1}, int32), 3, s), s);
}

// The outputs (B, H, N, C, Dv) of all chunks, and the state (B, H, Dk, Dv) after the last one.
std::pair<array, array> run(const Chunks& c, array state, const Stream& s) {
  std::vector<array> outputs;
  for (int i = 0; i < c.added.shape(2); ++i) {
    auto at = [&](const array& a) { return take(a, i, 2, s); };
    array news = subtract(at(c.added), matmul(at(c.taken), state, s), s);
    outputs.push_back(add(matmul(at(c.queries), state, s), matmul(at(c.seen), news, s), s));
    state = add(multiply(at(c.retained), state, s), matmul(transposed(at(c.keys), s), news, s), s);
  }
  return {stack(outputs, 2, s), state};
}

}  // namespace

std::pair<array, array> gated_delta_update(const array& q, const array& k, const array& v,
                                           const array& gamma, const array& beta,
                                           const std::optional<array>& initial_state,
                                           const std::optional<array>& mask, StreamOrDevice to) {
  const Stream s = to_stream(to);
  check_gated_delta(q, k, v, gamma, beta, initial_state, mask);
  const int batch = v.shape(0), length = v.shape(1), heads = v.shape(2), width = v.shape(3);
  array state = initial_state ? astype(*initial_state, float32, s)
                              : zeros({batch, heads, width, q.shape(3)}, float32, s);
  if (v.size() == 0 || q.size() == 0) return {zeros(v.shape(), q.dtype(), s), state};
  array decay = gamma.ndim() == 4 ? gamma : expand_dims(gamma, -1, s);
  array rate = expand_dims(beta, -1, s);
  std::optional<array> counts;
  if (mask) {
    counts = expand_dims(expand_dims(astype(*mask, bool_, s), -1, s), -1, s);
    decay = where(*counts, decay, scalar(1, decay), s);
    rate = where(*counts, rate, scalar(0, rate), s);
  }
  // A decay for each channel needs memory for every pair of positions and every channel.
  const int size = std::min(length, gamma.ndim() == 4 ? 16 : 64);
  const int shared = heads / q.shape(2);
  auto of_each_head = [&](const array& a) {
    return chunks(shared == 1 ? a : repeat(a, shared, 2, s), size, 0, s);
  };
  const Chunks c(of_each_head(q), of_each_head(k), chunks(v, size, 0, s), chunks(decay, size, 1, s),
                 chunks(rate, size, 0, s), s);
  auto [chunked, last] = run(c, transposed(state, s), s);
  array out = reshape(chunked, {batch, heads, -1, width}, s);
  out = slice(out, {0, 0, 0, 0}, {batch, heads, length, width}, s);
  out = astype(transpose(out, {0, 2, 1, 3}, s), q.dtype(), s);
  if (counts) out = where(*counts, out, scalar(0, out), s);
  return {out, transposed(last, s)};
}

}  // namespace mlx::core::fast
