// Evaluation and function transformations.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// Schedules the arrays and their inputs, without waiting.
void async_eval(std::vector<array> outputs);
// Schedules them and waits.
void eval(std::vector<array> outputs);

template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void eval(Arrays&&... outputs) {
  eval(std::vector<array>{std::forward<Arrays>(outputs)...});
}
template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void async_eval(Arrays&&... outputs) {
  async_eval(std::vector<array>{std::forward<Arrays>(outputs)...});
}

// Returns the outputs of `fun`, and the products of the cotangents with its Jacobian, one per
// primal. More cotangents than outputs are ignored.
std::pair<std::vector<array>, std::vector<array>> vjp(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<array>& primals, const std::vector<array>& cotangents);
std::pair<array, array> vjp(const std::function<array(const array&)>& fun, const array& primal,
                            const array& cotangent);

// Returns the outputs of `fun`, and the products of its Jacobian with the tangents, one per output.
std::pair<std::vector<array>, std::vector<array>> jvp(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<array>& primals, const std::vector<array>& tangents);
std::pair<array, array> jvp(const std::function<array(const array&)>& fun, const array& primal,
                            const array& tangent);

// Returns the function's outputs and the gradients of the first, a scalar, with respect to
// `argnums`.
using ValueAndGradFn =
    std::function<std::pair<std::vector<array>, std::vector<array>>(const std::vector<array>&)>;
using SimpleValueAndGradFn =
    std::function<std::pair<array, std::vector<array>>(const std::vector<array>&)>;

ValueAndGradFn value_and_grad(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<int>& argnums);
ValueAndGradFn inline value_and_grad(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun, int argnum = 0) {
  return value_and_grad(fun, std::vector<int>{argnum});
}
std::function<std::pair<array, array>(const array&)> value_and_grad(
    const std::function<array(const array&)>& fun);
SimpleValueAndGradFn value_and_grad(const std::function<array(const std::vector<array>&)>& fun,
                                    const std::vector<int>& argnums);
SimpleValueAndGradFn inline value_and_grad(
    const std::function<array(const std::vector<array>&)>& fun, int argnum = 0) {
  return value_and_grad(fun, std::vector<int>{argnum});
}

std::function<std::vector<array>(const std::vector<array>&)> grad(
    const std::function<array(const std::vector<array>&)>& fun, const std::vector<int>& argnums);
std::function<std::vector<array>(const std::vector<array>&)> inline grad(
    const std::function<array(const std::vector<array>&)>& fun, int argnum = 0) {
  return grad(fun, std::vector<int>{argnum});
}
std::function<array(const array&)> grad(const std::function<array(const array&)>& fun);

// Maps `fun` over an axis of each input (-1: the input is not mapped), which becomes an axis of
// each output.
std::function<array(const array&)> vmap(const std::function<array(const array&)>& fun,
                                        int in_axis = 0, int out_axis = 0);
std::function<array(const array&, const array&)> vmap(
    const std::function<array(const array&, const array&)>& fun, int in_axis_a = 0,
    int in_axis_b = 0, int out_axis = 0);
std::function<std::vector<array>(const std::vector<array>&)> vmap(
    const std::function<std::vector<array>(const std::vector<array>&)>& fun,
    const std::vector<int>& in_axes = {}, const std::vector<int>& out_axes = {});

// `fun` with custom rules for transformations. Without a rule, a transformation uses the rules of
// the operations in `fun`.
std::function<std::vector<array>(const std::vector<array>&)> custom_function(
    std::function<std::vector<array>(const std::vector<array>&)> fun,
    std::optional<std::function<std::vector<array>(
        const std::vector<array>&, const std::vector<array>&, const std::vector<array>&)>>
        fun_vjp = std::nullopt,
    std::optional<std::function<std::vector<array>(
        const std::vector<array>&, const std::vector<array>&, const std::vector<int>&)>>
        fun_jvp = std::nullopt,
    std::optional<std::function<std::pair<std::vector<array>, std::vector<int>>(
        const std::vector<array>&, const std::vector<int>&)>>
        fun_vmap = std::nullopt);

std::function<std::vector<array>(const std::vector<array>&)> custom_vjp(
    std::function<std::vector<array>(const std::vector<array>&)> fun,
    std::function<std::vector<array>(const std::vector<array>&, const std::vector<array>&,
                                     const std::vector<array>&)>
        fun_vjp);

// Recomputes the intermediate values for the gradient instead of keeping them.
std::function<std::vector<array>(const std::vector<array>&)> checkpoint(
    std::function<std::vector<array>(const std::vector<array>&)> fun);

}  // namespace mlx::core
