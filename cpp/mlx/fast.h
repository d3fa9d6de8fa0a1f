// Operations that run as one kernel, and custom kernels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "mlx/array.h"
#include "mlx/utils.h"

namespace mlx::core::fast {

// Along the last axis: x / sqrt(mean(x^2) + eps) * weight. Sums are in single precision.
array rms_norm(const array& x, const std::optional<array>& weight, float eps,
               StreamOrDevice s = {});
// Along the last axis: (x - mean(x)) / sqrt(var(x) + eps) * weight + bias.
array layer_norm(const array& x, const std::optional<array>& weight,
                 const std::optional<array>& bias, float eps, StreamOrDevice s = {});

// Rotary position encoding (Su et al., 2021) of (..., T, D). The first `dims` elements of the last
// axis are rotated in pairs: elements 2 i and 2 i + 1 if traditional, else i and i + dims / 2. The
// angle of pair i at position t is scale * (offset + t) / freqs[i]; without freqs, these are
// base^(2 i / dims). `offset` is one number, or one for each entry of the first axis.
array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           const array& offset, const std::optional<array>& freqs = std::nullopt,
           StreamOrDevice s = {});
array rope(const array& x, int dims, bool traditional, std::optional<float> base, float scale,
           int offset, const std::optional<array>& freqs = std::nullopt, StreamOrDevice s = {});

// softmax(scale * q @ k^T + mask) @ v for q (B, N, T, D), k (B, M, S, D) and v (B, M, S, E), where
// N / M heads of q share one head of k and v. mask_mode is "", "causal" (the last query sees all
// keys, and each query before it one key less) or "array": then the mask is bool (true: the key is
// seen) or is added, and is broadcast to (B, N, T, S). `sinks` (N) are additional weights in every
// softmax.
array scaled_dot_product_attention(const array& q, const array& k, const array& v, float scale,
                                   const std::string& mask_mode = "",
                                   const std::optional<array>& mask = std::nullopt,
                                   const std::optional<array>& sinks = std::nullopt,
                                   StreamOrDevice s = {});

// logsumexp(logits) - logits[target] along the last axis, float32. `targets` are integers of the
// logits' shape without that axis.
array cross_entropy(const array& logits, const array& targets, StreamOrDevice s = {});

// The gated delta rule for q, k (B, T, Hk, Dk) and v (B, T, Hv, Dv): at each position the state (B,
// Hv, Dv, Dk) is multiplied by gamma, then beta * (v - state k) k^T is added, and the output is
// state q. gamma is (B, T, Hv), or (B, T, Hv, Dk) for each column; beta is (B, T, Hv). Hv / Hk
// heads of v share a head of q and k. Positions where `mask` (B, T) is false keep the state and
// output 0. Returns the outputs (B, T, Hv, Dv) and the last state, float32.
std::pair<array, array> gated_delta_update(const array& q, const array& k, const array& v,
                                           const array& gamma, const array& beta,
                                           const std::optional<array>& initial_state = std::nullopt,
                                           const std::optional<array>& mask = std::nullopt,
                                           StreamOrDevice s = {});

// The value of a template parameter of a custom kernel.
using TemplateArg = std::variant<int, bool, Dtype>;
using TemplateArgs = std::vector<std::pair<std::string, TemplateArg>>;

// Threads along x, y and z.
using GridSize = std::tuple<int, int, int>;

using CustomKernelFunction = std::function<std::vector<array>(
    const std::vector<array>& inputs, const std::vector<Shape>& output_shapes,
    const std::vector<Dtype>& output_dtypes, GridSize grid, GridSize threadgroup,
    TemplateArgs template_args, std::optional<float> init_value, bool verbose, StreamOrDevice s)>;

// A kernel whose body is written in the Metal Shading Language. Its signature is generated: inputs
// and outputs by name, and, if the body mentions them, NAME_shape, NAME_strides and NAME_ndim of
// inputs and attributes such as thread_position_in_grid. `header` is placed before the function.
// compile_options: "math_mode" is "safe", "relaxed" or "fast".
CustomKernelFunction metal_kernel(const std::string& name,
                                  const std::vector<std::string>& input_names,
                                  const std::vector<std::string>& output_names,
                                  const std::string& source, const std::string& header = "",
                                  bool ensure_row_contiguous = true, bool atomic_outputs = false,
                                  const std::map<std::string, std::string>& compile_options = {});

// A scalar argument of a compiled CUDA kernel.
using ScalarArg = std::variant<bool, int, float>;

// Kernels in CUDA source and compiled CUDA kernels. Both throw: there is no back end for them.
CustomKernelFunction cuda_kernel(const std::string& name,
                                 const std::vector<std::string>& input_names,
                                 const std::vector<std::string>& output_names,
                                 const std::string& source, const std::string& header = "",
                                 bool ensure_row_contiguous = true, int shared_memory = 0);
std::vector<array> precompiled_cuda_kernel(
    const std::string& name, const std::string& compiled_source, const std::vector<array>& inputs,
    const std::vector<Shape>& output_shapes, const std::vector<Dtype>& output_dtypes,
    const std::vector<ScalarArg>& scalars, GridSize grid, GridSize threadgroup,
    int shared_memory = 0, std::optional<float> init_value = std::nullopt,
    bool ensure_row_contiguous = false, StreamOrDevice s = {});

}  // namespace mlx::core::fast
