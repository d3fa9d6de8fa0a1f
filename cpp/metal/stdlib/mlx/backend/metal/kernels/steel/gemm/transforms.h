// What becomes of the sums of a matrix product before they are stored, and which threadgroup
// computes which tile.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/steel/utils.h"

namespace mlx {
namespace steel {

// ---- epilogues: apply(x) for a sum alone, apply(x, c) for a sum and an element of C ----

template <typename OutT, typename InT>
struct TransformNone {
  static METAL_FUNC OutT apply(InT x) { return static_cast<OutT>(x); }
  static METAL_FUNC OutT apply(InT x, OutT) { return static_cast<OutT>(x); }
};

template <typename OutT, typename InT>
struct TransformAdd {
  METAL_FUNC TransformAdd(const float, const float) {}
  static METAL_FUNC OutT apply(InT x) { return static_cast<OutT>(x); }
  static METAL_FUNC OutT apply(InT x, OutT c) { return static_cast<OutT>(x) + c; }
};

template <typename OutT, typename InT>
struct TransformAxpby {
  const float alpha;
  const float beta;

  METAL_FUNC TransformAxpby(const float alpha_, const float beta_) : alpha(alpha_), beta(beta_) {}
  METAL_FUNC OutT apply(InT x) const { return static_cast<OutT>(x * alpha); }
  METAL_FUNC OutT apply(InT x, OutT c) const {
    return static_cast<OutT>(x * alpha + beta * static_cast<InT>(c));
  }
};

// The type in which products of T are added up.
template <typename T>
struct AccumHelper {
  typedef float accum_type;
};

// 2^swizzle_log neighbouring threadgroups of a row of the grid compute tiles below each other, so
// that they read the same columns of B at about the same time.
struct BlockSwizzle {
  static METAL_FUNC int2 swizzle(uint3 tid, const int swizzle_log) {
    const int low = int(tid.x) & ((1 << swizzle_log) - 1);
    return int2(int(tid.x) >> swizzle_log, (int(tid.y) << swizzle_log) + low);
  }
};

}  // namespace steel
}  // namespace mlx
