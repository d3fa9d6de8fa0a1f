// Scaled dot-product attention.
#include "mlx/primitives/attention.h"

#include <limits>

#include "mlx/errors.h"
#include "mlx/fast.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace fast {

namespace {

[[noreturn]] void invalid_attention(const std::string& text) {
  invalid_argument("scaled_dot_product_attention", text);
}

void check_shapes(const array& q, const array& k, const array& v) {
  for (const array* x : {&q, &k, &v}) {
    if (x->ndim() != 4) {
      invalid_attention(message("q, k and v must have 4 dimensions, but have the shapes ",
                                q.shape(), ", ", k.shape(), " and ", v.shape(), "."));
    }
    if (!issubdtype(x->dtype(), floating)) {
      invalid_attention(message("The type must be a floating one, not ", x->dtype(), "."));
    }
  }
  const bool batches = q.shape(0) == k.shape(0) && q.shape(0) == v.shape(0);
  const bool heads = k.shape(1) == v.shape(1) && k.shape(1) > 0 && q.shape(1) % k.shape(1) == 0;
  const bool lengths = q.shape(3) == k.shape(3) && k.shape(2) == v.shape(2);
  if (batches && heads && lengths) return;
  invalid_attention(
      message("q (B, N, T, D), k (B, M, S, D) and v (B, M, S, E) do not fit together, or N is no "
              "multiple of M: their shapes are ",
              q.shape(), ", ", k.shape(), " and ", v.shape(), "."));
}

void check_mask(const std::string& mode, const std::optional<array>& mask, Dtype type) {
  if (mode != "" && mode != "causal" && mode != "array") {
    invalid_attention("The mask must be None, \"causal\" or an array, not \"" + mode + "\".");
  }
  if (mode == "array" ? !mask : mode == "causal" && mask)
    invalid_attention("A mask is given where its mode is \"array\" or empty.");
  if (mask && mask->dtype() != bool_ && promote_types(mask->dtype(), type) != type) {
    invalid_attention(message("The mask's type, ", mask->dtype(),
                              ", is neither bool nor one that converts to ", type, "."));
  }
}

// Heads of q that share a head of k get an axis of their own: (B, N, ...) becomes (B, M, N / M,
// ...).
array with_groups(const array& x, int groups, const Stream& s) {
  if (x.shape(1) == 1) return expand_dims(x, 2, s);  // broadcast
  return unflatten(x, 1, {groups, -1}, s);
}

class PartsOfScores {
 public:
  PartsOfScores(const array& q, const array& k, const array& v, float scale,
                const std::string& mode, const std::optional<array>& mask,
                const std::optional<array>& sinks, const Stream& s)
      : type_(promote_types(result_type(q, k), v.dtype())),
        queries_(q.shape(2)),
        keys_(k.shape(2)),
        q_(with_groups(multiply(astype(q, type_, s), array(scale, type_), s), k.shape(1), s)),
        k_(expand_dims(swapaxes(astype(k, type_, s), -1, -2, s), 2, s)),
        v_(expand_dims(astype(v, type_, s), 2, s)),
        causal_(mode == "causal"),
        at_once_(Attention::queries_at_once(
            size_t(q.shape(0)) * q.shape(1) * keys_ * size_of(type_), s)),
        s_(s) {
    if (mask) {
      array full = broadcast_to(*mask, {q.shape(0), q.shape(1), mask_rows(*mask), keys_}, s);
      mask_ = with_groups(full, k.shape(1), s);
    }
    if (sinks)
      sinks_ =
          with_groups(reshape(astype(*sinks, type_, s), {1, q.shape(1), 1, 1}, s), k.shape(1), s);
  }

  array run() const {
    if (queries_ <= at_once_) return flatten(of_queries(0, queries_), 1, 2, s_);
    std::vector<array> parts;
    for (int first = 0; first < queries_; first += at_once_)
      parts.push_back(of_queries(first, std::min(first + at_once_, queries_)));
    return flatten(concatenate(parts, -2, s_), 1, 2, s_);
  }

 private:
  // The mask has a single row for all queries, or a row for each.
  int mask_rows(const array& mask) const {
    return mask.ndim() >= 2 && mask.shape(-2) != 1 ? queries_ : 1;
  }

  array part(const array& x, int axis, int first, int last) const {
    if (first == 0 && last == x.shape(axis)) return x;
    Shape start(x.ndim(), 0), stop = x.shape();
    start[x.ndim() + axis] = first;
    stop[x.ndim() + axis] = last;
    return slice(x, start, stop, s_);
  }

  array rows(const array& x, int first, int last) const {
    return x.shape(-2) == 1 && queries_ != 1 ? x : part(x, -2, first, last);
  }

  // The keys from this one on are hidden from these queries. A query that sees no key gives all
  // keys the same weight, so then none can be left out.
  int end_of_keys(int first, int last) const {
    const int ahead = keys_ - queries_;
    return causal_ && first + ahead >= 0 ? last + ahead : keys_;
  }

  // Masks the scores of some queries: hidden keys get the least number of the type. With minus
  // infinity, queries that see nothing, such as padding, would become NaN.
  array masked(const array& scores, int first, int last, int keys) const {
    array hidden(finfo(type_).min, type_);
    if (causal_) {
      array query = add(arange(first, last, 1, s_), array(keys_ - queries_), s_);
      array seen = greater_equal(expand_dims(query, -1, s_), arange(keys, s_), s_);
      return where(seen, scores, hidden, s_);
    }
    if (!mask_) return scores;
    array mask = rows(*mask_, first, last);
    return mask.dtype() == bool_ ? where(mask, scores, hidden, s_)
                                 : add(scores, astype(mask, type_, s_), s_);
  }

  array of_queries(int first, int last) const {
    const int keys = end_of_keys(first, last);
    array scores = matmul(rows(q_, first, last), part(k_, -1, 0, keys), s_);
    scores = masked(scores, first, last, keys);
    if (sinks_) {
      Shape column = scores.shape();
      column.back() = 1;
      scores = concatenate({broadcast_to(*sinks_, column, s_), scores}, -1, s_);
    }
    array weights = softmax(scores, -1, /*precise=*/true, s_);
    if (sinks_) {
      Shape start(weights.ndim(), 0);
      start.back() = 1;
      weights = slice(weights, start, weights.shape(), s_);
    }
    return matmul(weights, part(v_, -2, 0, keys), s_);
  }

  Dtype type_;
  int queries_;
  int keys_;
  array q_;  // (B, M, N / M, T, D)
  array k_;  // (B, M, 1, D, S)
  array v_;  // (B, M, 1, S, E)
  bool causal_;
  int at_once_;  // queries
  std::optional<array> mask_;
  std::optional<array> sinks_;
  Stream s_;
};

}  // namespace

array scaled_dot_product_attention(const array& q, const array& k, const array& v, float scale,
                                   const std::string& mask_mode, const std::optional<array>& mask,
                                   const std::optional<array>& sinks, StreamOrDevice s) {
  check_shapes(q, k, v);
  check_mask(mask_mode, mask, promote_types(result_type(q, k), v.dtype()));
  if (sinks && (sinks->ndim() != 1 || sinks->shape(0) != q.shape(1))) {
    invalid_attention(message("sinks must have the shape (", q.shape(1),
                              "), one for each head of q, not ", sinks->shape(), "."));
  }
  const Stream stream = to_stream(s);
  const bool causal = mask_mode == "causal";
  // A gradient needs the scores, which the kernel does not keep.
  if (!mask && !sinks && !detail::InTracing::in_grad_tracing() &&
      Attention::has_kernel({q, k, v}, causal, stream)) {
    return array(q.shape(), q.dtype(), std::make_shared<Attention>(stream, scale, causal),
                 {q, k, v});
  }
  return PartsOfScores(q, k, v, scale, mask_mode, mask, sinks, stream).run();
}

}  // namespace fast

array attention_by_scores(const array& q, const array& k, const array& v, float scale, bool causal,
                          const Stream& s) {
  return fast::PartsOfScores(q, k, v, scale, causal ? "causal" : "", std::nullopt, std::nullopt, s)
      .run();
}

}  // namespace mlx::core
