// Elementwise operations of one array.
#pragma once

#include "mlx/ops/common.h"

namespace mlx::core {

#define MLX_UNARY(Class, function, ...) array function(const array& a, StreamOrDevice s = {});
#include "mlx/primitives/elementwise.def"

// Functions composed of others.
array degrees(const array& a, StreamOrDevice s = {});
array radians(const array& a, StreamOrDevice s = {});
array reciprocal(const array& a, StreamOrDevice s = {});
array isnan(const array& a, StreamOrDevice s = {});
array isinf(const array& a, StreamOrDevice s = {});
array isfinite(const array& a, StreamOrDevice s = {});
array isposinf(const array& a, StreamOrDevice s = {});
array isneginf(const array& a, StreamOrDevice s = {});
array trunc(const array& a, StreamOrDevice s = {});
inline array positive(const array& a, StreamOrDevice = {}) { return a; }

inline array operator-(const array& a) { return negative(a); }
array operator~(const array& a);

// Rounds half to even.
array round(const array& a, int decimals, StreamOrDevice s = {});

array nan_to_num(const array& a, float nan = 0.0f, const std::optional<float> posinf = std::nullopt,
                 const std::optional<float> neginf = std::nullopt, StreamOrDevice s = {});

array astype(array a, Dtype dtype, StreamOrDevice s = {});
// Reinterprets the bytes as another type.
array view(const array& a, const Dtype& dtype, StreamOrDevice s = {});
array copy(array a, StreamOrDevice s = {});

}  // namespace mlx::core
