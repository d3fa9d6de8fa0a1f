// SIMD-group functions between threads that run as fibres: partial, divergent and half-exited
// SIMD-groups.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "metal/cpu/runtime/runtime_calls.h"
#include "metal/native_kernel.h"

namespace metal::test {
namespace {

using cpu::Group;

NativeKernel threads(cpu::EntryPoint entry) { return {.entry = entry, .has_barriers = true}; }

void reductions(const Group* group, uint32_t thread) {
  auto* out = argument<int64_t>(group, 0) + thread * 10;
  auto value = static_cast<int32_t>(thread) - 3;
  out[0] = metal_cpu_simd_sum_i32(group, 1, value);
  out[1] = metal_cpu_simd_min_i32(group, 2, value);
  out[2] = metal_cpu_simd_max_i32(group, 3, value);
  out[3] = metal_cpu_simd_product_i64(group, 4, thread % 32 < 5 ? value : -1);
  out[4] = metal_cpu_simd_or_u32(group, 5, 1u << thread % 32);
  out[5] = metal_cpu_simd_xor_u32(group, 6, thread);
  out[6] = metal_cpu_simd_and_u32(group, 7, thread | 64);
  out[7] = metal_cpu_simd_prefix_inclusive_sum_u32(group, 8, thread);
  out[8] = metal_cpu_simd_prefix_exclusive_sum_u32(group, 9, thread);
  out[9] = metal_cpu_simd_active_mask(group, 10);
}

TEST(SimdGroup, ReductionsInPartialSimdGroups) {
  for (uint32_t size : {1u, 8u, 24u, 32u, 45u, 66u, 240u, 1024u}) {
    Data<int64_t> out(size * 10);
    ASSERT_EQ(run(threads(reductions), {out}, {size, 1, 1}, {size, 1, 1}), "");
    for (uint32_t thread = 0; thread < size; ++thread) {
      uint32_t first = thread / 32 * 32, last = std::min(first + 32, size);
      int64_t sum = 0, product = 1;
      uint32_t or_ = 0, xor_ = 0, and_ = UINT32_MAX, inclusive = 0;
      for (uint32_t i = first; i < last; ++i) {
        auto value = static_cast<int64_t>(i) - 3;
        sum += value;
        product *= i % 32 < 5 ? value : -1;
        or_ |= 1u << i % 32;
        xor_ ^= i;
        and_ &= i | 64;
        if (i <= thread) inclusive += i;
      }
      const int64_t* row = out.values + thread * 10;
      EXPECT_EQ(row[0], sum);
      EXPECT_EQ(row[1], static_cast<int64_t>(first) - 3);
      EXPECT_EQ(row[2], static_cast<int64_t>(last) - 4);
      EXPECT_EQ(row[3], product);
      EXPECT_EQ(row[4], or_);
      EXPECT_EQ(row[5], xor_);
      EXPECT_EQ(row[6], and_);
      EXPECT_EQ(row[7], inclusive);
      EXPECT_EQ(row[8], inclusive - thread);
      EXPECT_EQ(row[9], or_);
    }
  }
}

void float_reductions(const Group* group, uint32_t thread) {
  auto* out = argument<float>(group, 0) + thread * 6;
  float value = 0.1f * static_cast<float>(thread % 32) - 1;
  out[0] = metal_cpu_simd_sum_f32(group, 1, value);
  out[1] = metal_cpu_simd_min_f32(group, 2, thread % 32 == 4 ? NAN : value);
  out[2] = metal_cpu_simd_max_f32(group, 3, value);
  out[3] = metal_cpu_simd_prefix_inclusive_sum_f32(group, 4, value);
  out[4] = metal_cpu_simd_prefix_exclusive_product_f32(group, 5, value);
  out[5] = metal_cpu_simd_prefix_inclusive_product_f32(group, 6, value);
}

// Adds neighbours first, then pairs of them.
float sum_of(std::vector<float> values) {
  values.resize(32);
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) values[i] = values[2 * i] + values[2 * i + 1];
  }
  return values[0];
}

TEST(SimdGroup, OrderOfFloatReductions) {
  constexpr uint32_t kSize = 50;
  Data<float> out(kSize * 6);
  ASSERT_EQ(run(threads(float_reductions), {out}, {kSize, 1, 1}, {kSize, 1, 1}), "");
  for (uint32_t first : {0u, 32u}) {
    std::vector<float> values;
    float sum = 0, product = 1;
    for (uint32_t i = first; i < std::min(first + 32, kSize); ++i) {
      float value = 0.1f * static_cast<float>(i % 32) - 1;
      EXPECT_EQ(out[i * 6 + 4], product);
      values.push_back(value);
      sum += value;
      product *= value;
      EXPECT_EQ(out[i * 6 + 3], sum);
      EXPECT_EQ(out[i * 6 + 5], product);
      EXPECT_EQ(out[i * 6 + 1], -1.0f);  // NaN is not a minimum
    }
    EXPECT_EQ(out[first * 6], sum_of(values));
  }
}

void shuffles(const Group* group, uint32_t thread) {
  auto* out = argument<uint64_t>(group, 0) + thread * 4;
  uint32_t lane = thread % 32;
  out[0] = metal_cpu_simd_shuffle_u32(group, 1, thread, lane ^ 1);
  out[1] = metal_cpu_simd_shuffle_u64(group, 2, (uint64_t{thread} << 33) + 1, lane + 3);
  out[2] = metal_cpu_simd_ballot(group, 3, lane % 3 == 0);
  out[3] = metal_cpu_simd_shuffle_u32(group, 4, thread, 37);  // lanes are counted modulo 32
}

TEST(SimdGroup, ShufflesAndBallot) {
  constexpr uint32_t kSize = 80;
  Data<uint64_t> out(kSize * 4);
  ASSERT_EQ(run(threads(shuffles), {out}, {kSize, 1, 1}, {kSize, 1, 1}), "");
  for (uint32_t thread = 0; thread < kSize; ++thread) {
    uint32_t first = thread / 32 * 32, lanes = std::min(kSize - first, 32u);
    auto from = [&](uint32_t lane) { return lane < lanes ? first + lane : thread; };
    EXPECT_EQ(out[thread * 4], from(thread % 32 ^ 1));
    EXPECT_EQ(out[thread * 4 + 1], (uint64_t{from((thread + 3) % 32)} << 33) + 1);
    EXPECT_EQ(out[thread * 4 + 2], 0x49249249u & (lanes == 32 ? ~0u : (1u << lanes) - 1));
    EXPECT_EQ(out[thread * 4 + 3], from(5));
  }
}

// if (lane < 10) a = sum(1); else a = sum(2); b = sum(3)
void branches(const Group* group, uint32_t thread) {
  auto* out = argument<uint32_t>(group, 0) + thread * 2;
  out[0] = thread % 32 < 10 ? metal_cpu_simd_sum_u32(group, 1, 1)
                            : metal_cpu_simd_sum_u32(group, 2, 100);
  out[1] = metal_cpu_simd_sum_u32(group, 3, 1);
}

TEST(SimdGroup, DivergentCallsSeeOnlyTheirBranch) {
  Data<uint32_t> out(64 * 2);
  ASSERT_EQ(run(threads(branches), {out}, {64, 1, 1}, {64, 1, 1}), "");
  for (uint32_t thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(out[thread * 2], thread % 32 < 10 ? 10u : 2200u);
    EXPECT_EQ(out[thread * 2 + 1], 32u);
  }
}

// Lane i runs i + 1 iterations of the loop. The sum in each iteration counts the lanes that are
// still in it.
void loops(const Group* group, uint32_t thread) {
  auto* out = argument<uint32_t>(group, 0);
  uint32_t total = 0;
  for (uint32_t i = 0; i <= thread % 32; ++i) {
    if (i % 2 == thread % 2) total += metal_cpu_simd_sum_u32(group, 1, 1);
    metal_cpu_reconverge(group, 2);
  }
  out[thread] = total;
  out[64 + thread] = metal_cpu_simd_sum_u32(group, 3, 1);
}

TEST(SimdGroup, LanesLeaveALoopAtDifferentTimes) {
  Data<uint32_t> out(128);
  ASSERT_EQ(run(threads(loops), {out}, {64, 1, 1}, {64, 1, 1}), "");
  for (uint32_t thread = 0; thread < 64; ++thread) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i <= thread % 32; ++i) {
      if (i % 2 != thread % 2) continue;
      for (uint32_t other = i; other < 32; ++other) expected += i % 2 == other % 2;
    }
    EXPECT_EQ(out[thread], expected) << thread;
    EXPECT_EQ(out[64 + thread], 32u);
  }
}

void early_exit(const Group* group, uint32_t thread) {
  auto* out = argument<uint32_t>(group, 0);
  if (thread % 4 == 1) return;
  out[thread] = metal_cpu_simd_sum_u32(group, 1, 1);
}

TEST(SimdGroup, ExitedLanesDoNotCount) {
  Data<uint32_t> out(40);
  ASSERT_EQ(run(threads(early_exit), {out}, {40, 1, 1}, {40, 1, 1}), "");
  for (uint32_t thread = 0; thread < 40; ++thread) {
    EXPECT_EQ(out[thread], thread % 4 == 1 ? 0u : thread < 32 ? 24u : 6u);
  }
}

struct Element {
  explicit Element(uint32_t lane)
      : row((lane / 4 & 4) + lane / 2 % 4), column((lane / 4 & 2) * 2 + lane % 2 * 2) {}
  uint32_t row, column;
};

void matrix_product(const Group* group, uint32_t thread) {
  Element at(thread);
  const float* a = argument<float>(group, 0) + at.row * 8 + at.column;
  const float* b = argument<float>(group, 1) + at.row * 8 + at.column;
  float* c = argument<float>(group, 2) + at.row * 8 + at.column;
  uint64_t d =
      metal_cpu_simdgroup_multiply_accumulate_f32(group, 1, a[0], a[1], b[0], b[1], c[0], c[1]);
  c[0] = std::bit_cast<float>(static_cast<uint32_t>(d));
  c[1] = std::bit_cast<float>(static_cast<uint32_t>(d >> 32));
}

TEST(SimdGroup, MatrixMultiplyAccumulate) {
  Data<float> a(64), b(64), c(64);
  for (int i = 0; i < 64; ++i) {
    a[i] = static_cast<float>(i % 7) - 2;
    b[i] = static_cast<float>(i % 5) * 0.5f;
    c[i] = static_cast<float>(i);
  }
  ASSERT_EQ(run(threads(matrix_product), {a, b, c}, {32, 1, 1}, {32, 1, 1}), "");
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      float expected = static_cast<float>(i * 8 + j);
      for (int k = 0; k < 8; ++k) expected += a[i * 8 + k] * b[k * 8 + j];
      EXPECT_FLOAT_EQ(c[i * 8 + j], expected);
    }
  }
}

TEST(RuntimeCalls, AreListedByName) {
  bool found = false;
  for (const cpu::RuntimeCall& call : cpu::runtime_calls()) {
    if (std::string(call.name) == "metal_cpu_simd_prefix_inclusive_sum_f32") {
      found = call.address == reinterpret_cast<void*>(&metal_cpu_simd_prefix_inclusive_sum_f32);
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(cpu::runtime_calls().size(), 7u + 5 * 8 + 2 * 3);
}

}  // namespace
}  // namespace metal::test
