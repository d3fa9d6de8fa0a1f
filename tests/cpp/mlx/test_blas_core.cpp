// The choice of OpenBLAS's kernels.
#include <gtest/gtest.h>

#include "mlx/backend/host/blas_core.h"

namespace mlx::core::cpu {
namespace {

constexpr VectorFeatures kSse{false, false}, kAvx2{true, false}, kAvx512{true, true};

TEST(BlasCore, IsReplacedWhereTheProcessorDoesMore) {
  for (const char* old : {"Prescott", "Core2", "Nehalem", "Barcelona", "Sandybridge"}) {
    EXPECT_EQ(better_blas_core(old, kAvx512), "SkylakeX") << old;
    EXPECT_EQ(better_blas_core(old, kAvx2), "Haswell") << old;
    EXPECT_EQ(better_blas_core(old, kSse), "") << old;
  }
}

TEST(BlasCore, StaysWhereItIsRecent) {
  for (const char* recent : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"}) {
    EXPECT_EQ(better_blas_core(recent, kAvx2), "") << recent;
    EXPECT_EQ(better_blas_core(recent, kAvx512), "") << recent;
  }
}

}  // namespace
}  // namespace mlx::core::cpu
