// Corrects OpenBLAS's choice of kernels when the library is loaded, before anything multiplies.
#include "mlx/backend/host/blas_core.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "mlx/backend/host/openblas.h"

namespace mlx::core::cpu {

namespace {

constexpr const char* kChoice = "OPENBLAS_CORETYPE";  // the variable that OpenBLAS reads

// Kernels that need AVX2 or more.
constexpr std::string_view kRecentCores[] = {"Haswell",  "Zen",        "Excavator",
                                             "SkylakeX", "Cooperlake", "SapphireRapids"};

#if defined(__x86_64__)
VectorFeatures features_here() {
  __builtin_cpu_init();
  return {__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")};
}

// The user has chosen already.
bool correct_choice() {
  if (!openblas_get_corename || !gotoblas_dynamic_quit || !gotoblas_dynamic_init) return false;
  if (std::getenv(kChoice)) return false;
  const std::string better(better_blas_core(openblas_get_corename(), features_here()));
  if (better.empty()) return false;
  setenv(kChoice, better.c_str(), 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kChoice);
  return true;
}

[[maybe_unused]] const bool corrected = correct_choice();
#endif

}  // namespace

std::string_view better_blas_core(std::string_view chosen, VectorFeatures features) {
  if (std::ranges::find(kRecentCores, chosen) != std::end(kRecentCores)) return "";
  return features.avx512 ? "SkylakeX" : features.avx2 ? "Haswell" : "";
}

}  // namespace mlx::core::cpu
