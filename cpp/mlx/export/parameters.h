// The types of primitives' parameters: as bytes, and as values for callbacks.
#pragma once

#include <concepts>

#include "mlx/export.h"
#include "mlx/export/bytes.h"
#include "mlx/fast/metal_kernel/custom_kernel.h"
#include "mlx/primitives.h"
#include "mlx/primitives/decompositions.h"
#include "mlx/primitives/fft.h"
#include "mlx/primitives/grouped.h"
#include "mlx/primitives/quantized.h"

namespace mlx::core {

// The fields of a constant structure are constant.
template <typename T, typename Structure>
concept Is = std::same_as<std::remove_const_t<T>, Structure>;

template <Is<ConvolutionWindow> T>
auto fields(T& w) {
  return std::tie(w.stride, w.low, w.high, w.dilation, w.groups);
}
template <Is<Quantization> T>
auto fields(T& q) {
  return std::tie(q.group_size, q.bits, q.mode);
}

namespace fast {

template <Is<Slot> T>
auto fields(T& slot) {
  return std::tie(slot.kind, slot.array, slot.buffer);
}
template <Is<BodyScope> T>
auto fields(T& scope) {
  return std::tie(scope.body, scope.inputs, scope.constant_inputs, scope.outputs, scope.templates,
                  scope.atomic_outputs);
}
template <Is<KernelVariant> T>
auto fields(T& variant) {
  return std::tie(variant.name, variant.function, variant.source, variant.math_mode, variant.slots,
                  variant.scope);
}
// All members but the variant.
template <Is<KernelLaunch> T>
auto fields(T& launch) {
  return std::tie(launch.grid, launch.threadgroup, launch.init_value, launch.ensure_row_contiguous,
                  launch.initial_inputs, launch.output_shapes);
}

}  // namespace fast

namespace exported {

#define MLX_ENUMERATION(Enumeration, last) \
  template <>                              \
  inline constexpr int kLast<Enumeration> = static_cast<int>(Enumeration::last);
MLX_ENUMERATION(Log::Base, e)
MLX_ENUMERATION(BitwiseBinary::Op, RightShift)
MLX_ENUMERATION(ConvolutionPart, Output)
MLX_ENUMERATION(MatrixForm, Upper)
MLX_ENUMERATION(FFTKind, ComplexToReal)
MLX_ENUMERATION(Scatter::ReduceType, None)
MLX_ENUMERATION(ScatterAxis::ReduceType, None)
MLX_ENUMERATION(Quantization::Mode, Nvfp4)
MLX_ENUMERATION(Reduce::ReduceType, Mean)
MLX_ENUMERATION(ArgReduce::ReduceType, ArgMax)
MLX_ENUMERATION(Scan::ReduceType, LogAddExp)
MLX_ENUMERATION(fast::Slot::Kind, Output)
MLX_ENUMERATION(fast::KernelMathMode, Fast)
#undef MLX_ENUMERATION

// ---- values for callbacks ----

using Parameters = std::vector<StateT>;

template <typename T>
void report(Parameters& to, const T& value);

template <typename... T>
void report_all(Parameters& to, const std::tuple<T...>& values) {
  std::apply([&](const auto&... value) { (report(to, value), ...); }, values);
}

template <typename T>
void report(Parameters& to, const T& value) {
  if constexpr (std::same_as<T, Dtype::Val>) {
    to.emplace_back(dtype_of(value));
  } else if constexpr (std::is_enum_v<T>) {
    to.emplace_back(static_cast<int>(value));
  } else if constexpr (HasFields<const T>) {
    report_all(to, fields(value));
  } else {
    to.emplace_back(value);
  }
}

}  // namespace exported

}  // namespace mlx::core
