// mlx.core.fast: operations that run as one kernel, and custom kernels.
#include "mlx/fast.h"

#include <pybind11/stl.h>

#include "convert/arguments.h"
#include "module.h"

using namespace pybind11::literals;

void init_fast_cuda_kernel(py::module_& fast);
void init_fast_metal_kernel(py::module_& fast);

namespace {

const char* const kRmsNormDoc =
    R"(rms_norm(x: array, weight: array | None, eps: float, *, stream: StreamOrDevice = None) -> array

Divides by the root of the mean of the squares, along the last axis (Zhang and Sennrich, 2019).

Args:
    x: The array, of a floating type. Sums are in single precision.
    weight: What the result is multiplied with, of shape (n,) for a last axis of length n.
    eps: Added to the mean.

Returns:
    `x * rsqrt(mean(x * x) + eps) * weight`.)";

const char* const kLayerNormDoc =
    R"(layer_norm(x: array, weight: array | None, bias: array | None, eps: float, *, stream: StreamOrDevice = None) -> array

Subtracts the mean and divides by the standard deviation, along the last axis (Ba et al., 2016).

Args:
    x: The array, of a floating type. Sums are in single precision.
    weight: What the result is multiplied with, of shape (n,) for a last axis of length n.
    bias: What is added then, of the same shape.
    eps: Added to the variance.

Returns:
    `(x - mean(x)) * rsqrt(var(x) + eps) * weight + bias`.)";

const char* const kRopeDoc =
    R"(rope(a: array, dims: int, *, traditional: bool, base: float | None, scale: float, offset: int | array, freqs: array | None = None, stream: StreamOrDevice = None) -> array

Encodes positions by rotating pairs of elements (Su et al., 2021).

Args:
    a: The array, of shape (B, ..., T, D): T positions.
    dims: How many elements of the last axis are rotated; even. The others stay.
    traditional: Whether pairs are neighbours; else element i goes with i + dims / 2.
    base: The angle of pair i grows by base^(-2 i / dims) per position. None if `freqs` is given.
    scale: Positions are multiplied with it.
    offset: The first position, or one for each entry of the first axis.
    freqs: The reciprocals of these angles, of shape (dims / 2,), instead of `base`.

Returns:
    The rotated array, of the shape and type of `a`.)";

const char* const kAttentionDoc =
    R"(scaled_dot_product_attention(q: array, k: array, v: array, *, scale: float, mask: None | str | array = None, sinks: array | None = None, force_fused: bool = False, stream: StreamOrDevice = None) -> array

Computes attention: `softmax(scale * q @ k.T + mask) @ v`. The weights of all queries are never in
memory at once.

Args:
    q: The queries, of shape (B, N, T, D).
    k: The keys, of shape (B, M, S, D). N is a multiple of M: heads share keys and values.
    v: The values, of shape (B, M, S, E).
    scale: What the products are multiplied with.
    mask: "causal": the last query sees all keys, and each one before it one key less. Or an array
        that is broadcast to (B, N, T, S): bool, where True means that a key is seen, or numbers that
        are added to the products.
    sinks: Of shape (N,): one score for each head that takes part in its softmax, but has no value.
    force_fused: Accepted for compatibility.

Returns:
    The result, of shape (B, N, T, E).)";

const char* const kCrossEntropyDoc =
    R"(cross_entropy(logits: array, targets: array, *, stream: StreamOrDevice = None) -> array

Computes the cross entropy of classes: `logsumexp(logits) - logits[target]`, along the last axis.

Args:
    logits: The scores of the classes, of shape (..., n) and a floating type. Sums are in single precision.
    targets: The right classes: integers from 0 to n - 1, of shape (...).

Returns:
    The losses, float32, of shape (...).

Example:
    >>> mx.fast.cross_entropy(mx.array([[0.0, 0.0]]), mx.array([1]))
    array([0.693147], dtype=float32))";

const char* const kGatedDeltaDoc =
    R"(gated_delta_update(q: array, k: array, v: array, gamma: array, beta: array, initial_state: array | None = None, mask: array | None = None, stream: StreamOrDevice = None) -> list[array]

Computes the gated delta rule (Yang et al., 2025). At each position the state of a head is multiplied with
`gamma`, then `beta * outer(v - state @ k, k)` is added, and `state @ q` is the output.

Args:
    q: The queries, of shape (B, T, Hk, Dk).
    k: The keys, of the same shape.
    v: The values, of shape (B, T, Hv, Dv). Hv is a multiple of Hk: heads share queries and keys.
    gamma: What is left of the state, of shape (B, T, Hv), or (B, T, Hv, Dk) for each of its columns.
    beta: How much the state changes, of shape (B, T, Hv).
    initial_state: The state at the start, of shape (B, Hv, Dv, Dk). None means zeros.
    mask: Of shape (B, T): positions where it is false leave the state as it is, and their output is 0.

Returns:
    The outputs, of shape (B, T, Hv, Dv) and the type of `q`, and the state at the end, float32.)";

mx::array rope(const mx::array& a, int dims, bool traditional, std::optional<float> base,
               float scale, const ArrayLike& offset, const std::optional<mx::array>& freqs,
               mx::StreamOrDevice s) {
  return mx::fast::rope(a, dims, traditional, base, scale, to_array(offset), freqs, s);
}

mx::array attention(const mx::array& q, const mx::array& k, const mx::array& v, float scale,
                    const py::object& mask, const std::optional<mx::array>& sinks,
                    mx::StreamOrDevice s) {
  std::string mode;
  std::optional<mx::array> values;
  if (py::isinstance<py::str>(mask)) {
    mode = mask.cast<std::string>();
    if (mode != "causal") {
      throw std::invalid_argument(
          "[scaled_dot_product_attention] mask must be None, \"causal\" or an array, not \"" +
          mode + "\".");
    }
  } else if (!mask.is_none()) {
    mode = "array";
    values = to_array(mask);
  }
  return mx::fast::scaled_dot_product_attention(q, k, v, scale, mode, values, sinks, s);
}

void define_normalization(py::module_& m) {
  m.def(
      "rms_norm",
      [](const mx::array& x, const std::optional<mx::array>& weight, float eps, StreamArg s) {
        return mx::fast::rms_norm(x, weight, eps, s);
      },
      "x"_a, "weight"_a.none(), "eps"_a, py::kw_only(), "stream"_a = py::none(), kRmsNormDoc);
  m.def(
      "layer_norm",
      [](const mx::array& x, const std::optional<mx::array>& weight,
         const std::optional<mx::array>& bias, float eps,
         StreamArg s) { return mx::fast::layer_norm(x, weight, bias, eps, s); },
      "x"_a, "weight"_a.none(), "bias"_a.none(), "eps"_a, py::kw_only(), "stream"_a = py::none(),
      kLayerNormDoc);
}

void define_losses_and_recurrences(py::module_& m) {
  m.def(
      "cross_entropy",
      [](const mx::array& logits, const mx::array& targets, StreamArg s) {
        return mx::fast::cross_entropy(logits, targets, s);
      },
      "logits"_a, "targets"_a, py::kw_only(), "stream"_a = py::none(), kCrossEntropyDoc);
  m.def(
      "gated_delta_update",
      [](const mx::array& q, const mx::array& k, const mx::array& v, const mx::array& gamma,
         const mx::array& beta, const std::optional<mx::array>& initial_state,
         const std::optional<mx::array>& mask, StreamArg s) {
        auto [out, state] =
            mx::fast::gated_delta_update(q, k, v, gamma, beta, initial_state, mask, s);
        return to_list({out, state});
      },
      "q"_a, "k"_a, "v"_a, "gamma"_a, "beta"_a, "initial_state"_a = py::none(),
      "mask"_a = py::none(), "stream"_a = py::none(), kGatedDeltaDoc);
}

}  // namespace

void init_fast(py::module_& parent) {
  py::module_ m =
      parent.def_submodule("fast", "Operations that come as one, and kernels of one's own.");
  define_normalization(m);
  m.def(
      "rope",
      [](const mx::array& a, int dims, bool traditional, std::optional<float> base, float scale,
         const ArrayLike& offset, const std::optional<mx::array>& freqs,
         StreamArg s) { return rope(a, dims, traditional, base, scale, offset, freqs, s); },
      "a"_a, "dims"_a, py::kw_only(), "traditional"_a, "base"_a.none(), "scale"_a, "offset"_a,
      "freqs"_a = py::none(), "stream"_a = py::none(), kRopeDoc);
  m.def(
      "scaled_dot_product_attention",
      [](const mx::array& q, const mx::array& k, const mx::array& v, float scale,
         const py::object& mask, const std::optional<mx::array>& sinks, bool,
         StreamArg s) { return attention(q, k, v, scale, mask, sinks, s); },
      "q"_a, "k"_a, "v"_a, py::kw_only(), "scale"_a, "mask"_a = py::none(), "sinks"_a = py::none(),
      "force_fused"_a = false, "stream"_a = py::none(), kAttentionDoc);
  define_losses_and_recurrences(m);
  init_fast_metal_kernel(m);
  init_fast_cuda_kernel(m);
}
