// The runtime functions that generated code calls when it runs one thread, or one SIMD-group, per
// fibre.
#pragma once

#include <cstdint>
#include <span>

#include "metal/cpu/abi.h"

// Applied as X(return type, name, parameter list after `group` and `site`).
#define METAL_CPU_SIMD_NUMERIC(X, suffix, T)      \
  X(T, simd_sum_##suffix, T)                      \
  X(T, simd_product_##suffix, T)                  \
  X(T, simd_min_##suffix, T)                      \
  X(T, simd_max_##suffix, T)                      \
  X(T, simd_prefix_inclusive_sum_##suffix, T)     \
  X(T, simd_prefix_exclusive_sum_##suffix, T)     \
  X(T, simd_prefix_inclusive_product_##suffix, T) \
  X(T, simd_prefix_exclusive_product_##suffix, T)

#define METAL_CPU_SIMD_BITWISE(X, suffix, T) \
  X(T, simd_and_##suffix, T)                 \
  X(T, simd_or_##suffix, T)                  \
  X(T, simd_xor_##suffix, T)

#define METAL_CPU_RUNTIME_CALLS(X)                                                                 \
  X(void, barrier, uint32_t scope, uint32_t flags)                                                 \
  X(void, reconverge)                                                                              \
  X(uint32_t, simd_shuffle_u32, uint32_t value, uint32_t lane)                                     \
  X(uint64_t, simd_shuffle_u64, uint64_t value, uint32_t lane)                                     \
  X(uint32_t, simd_ballot, bool predicate)                                                         \
  X(uint32_t, simd_active_mask)                                                                    \
  X(uint64_t, simdgroup_multiply_accumulate_f32, float a0, float a1, float b0, float b1, float c0, \
    float c1)                                                                                      \
  METAL_CPU_SIMD_NUMERIC(X, i32, int32_t)                                                          \
  METAL_CPU_SIMD_NUMERIC(X, u32, uint32_t)                                                         \
  METAL_CPU_SIMD_NUMERIC(X, i64, int64_t)                                                          \
  METAL_CPU_SIMD_NUMERIC(X, u64, uint64_t)                                                         \
  METAL_CPU_SIMD_NUMERIC(X, f32, float)                                                            \
  METAL_CPU_SIMD_BITWISE(X, u32, uint32_t)                                                         \
  METAL_CPU_SIMD_BITWISE(X, u64, uint64_t)

#define METAL_CPU_DECLARE(R, name, ...) \
  R metal_cpu_##name(const metal::cpu::Group* group, uint32_t site __VA_OPT__(, ) __VA_ARGS__);

extern "C" {
METAL_CPU_RUNTIME_CALLS(METAL_CPU_DECLARE)
}

#undef METAL_CPU_DECLARE

namespace metal::cpu {

struct RuntimeCall {
  const char* name;  // metal_cpu_...
  void* address;
};

// All of these functions. The JIT binds names to them, as the symbols themselves are hidden.
std::span<const RuntimeCall> runtime_calls();

}  // namespace metal::cpu
