// Helpers of back-end tests: values of arrays to compare with plain loops, and layouts.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "mlx/backend/common/utils.h"
#include "mlx/dtype_utils.h"
#include "mlx/mlx.h"

namespace mlx::core::testing {

// The elements in row-major order, whatever the layout.
inline std::vector<double> doubles(array a) {
  a.eval();
  std::vector<double> out(a.size());
  dispatch_all_types(a.dtype(), [&](auto type) {
    using T = MLX_GET_TYPE(type);
    for (size_t i = 0; i < a.size(); ++i) {
      T value = a.data<T>()[elem_to_loc(i, a.shape(), a.strides())];
      if constexpr (std::is_same_v<T, complex64_t>) {
        out[i] = value.real();
      } else {
        out[i] = static_cast<double>(value);
      }
    }
  });
  return out;
}

// Small integers that every type holds, in an irregular order.
inline array numbers(const Shape& shape, Dtype dtype, int range = 7, int low = 0) {
  std::vector<int> values(shape_size(shape));
  unsigned state = 12345;
  for (auto& value : values) {
    state = state * 1664525u + 1013904223u;
    value = low + static_cast<int>((state >> 16) % range);
  }
  return array(values.begin(), shape, dtype);
}

inline std::vector<Dtype> all_dtypes() {
  return {bool_, uint8, uint16,  uint32,   uint64,  int8,    int16,
          int32, int64, float16, bfloat16, float32, float64, complex64};
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                        double relative, const std::string& what = "") {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << what << " at " << i;
    } else if (std::isinf(want[i])) {
      ASSERT_EQ(got[i], want[i]) << what << " at " << i;
    } else {
      ASSERT_NEAR(got[i], want[i], relative * std::max(1.0, std::abs(want[i])))
          << what << " at " << i;
    }
  }
}

// The relative error of one rounding in the type, with some slack.
inline double tolerance(Dtype dtype) {
  switch (dtype.val()) {
    case Dtype::Val::float16:
      return 2e-3;
    case Dtype::Val::bfloat16:
      return 1.6e-2;
    case Dtype::Val::float64:
      return 1e-13;
    default:
      return 2e-6;
  }
}

// float64 exists on the CPU only.
inline Device device_for(Dtype dtype) { return dtype == float64 ? Device::cpu : Device::gpu; }

}  // namespace mlx::core::testing
