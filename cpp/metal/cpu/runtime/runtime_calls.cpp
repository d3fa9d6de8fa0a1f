// The runtime functions that generated code calls when it runs one thread per fibre.
#include "metal/cpu/runtime/runtime_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "metal/cpu/runtime/fibre_scheduler.h"

using metal::cpu::Group;
using metal::cpu::kSimdWidth;
using metal::cpu::LaneOperation;
using metal::cpu::Lanes;
using metal::cpu::scheduler_of;

namespace {

template <class T>
uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return static_cast<T>(bits);
  }
}

// Unsigned, so that integers wrap around.
template <class T>
using Wrapping = typename std::conditional_t<std::is_same_v<T, float>, std::type_identity<float>,
                                             std::make_unsigned<T>>::type;

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  template <class T>
  static constexpr T identity = T(0);
};

struct Product {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  template <class T>
  static constexpr T identity = T(1);
};

struct Min {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, float>) return std::fmin(a, b);
    return std::min(a, b);
  }
};

struct Max {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, float>) return std::fmax(a, b);
    return std::max(a, b);
  }
};

struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};

struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};

struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};

template <class F>
void for_each_lane(uint32_t mask, F function) {
  for (; mask; mask &= mask - 1) function(std::countr_zero(mask));
}

// Combines neighbours, then pairs of neighbours, in the same order as vector code.
template <class T, class Op>
void reduce(Lanes& lanes, uint32_t mask) {
  T values[kSimdWidth];
  for_each_lane(mask, [&](int lane) { values[lane] = from_bits<T>(lanes.x[lane]); });
  uint32_t there = mask;
  for (uint32_t distance = 1; distance < kSimdWidth; distance *= 2) {
    for (uint32_t lane = 0; lane < kSimdWidth; lane += 2 * distance) {
      const uint32_t other = lane + distance;
      if (!(there >> other & 1)) continue;
      values[lane] = there >> lane & 1 ? Op::apply(values[lane], values[other]) : values[other];
      there |= 1u << lane;
    }
  }
  const uint64_t bits = to_bits(values[0]);
  for_each_lane(mask, [&](int lane) { lanes.result[lane] = bits; });
}

template <class T, class Op, bool kInclusive>
void scan(Lanes& lanes, uint32_t mask) {
  T total = Op::template identity<T>;
  for_each_lane(mask, [&](int lane) {
    T next = Op::apply(total, from_bits<T>(lanes.x[lane]));
    lanes.result[lane] = to_bits(kInclusive ? next : total);
    total = next;
  });
}

void shuffle(Lanes& lanes, uint32_t mask) {
  for_each_lane(mask, [&](int lane) {
    auto source = static_cast<uint32_t>(lanes.y[lane]) % kSimdWidth;
    bool active = mask >> source & 1;
    lanes.result[lane] = lanes.x[active ? source : static_cast<uint32_t>(lane)];
  });
}

void ballot(Lanes& lanes, uint32_t mask) {
  uint32_t votes = 0;
  for_each_lane(mask, [&](int lane) { votes |= static_cast<uint32_t>(lanes.x[lane]) << lane; });
  for_each_lane(mask, [&](int lane) { lanes.result[lane] = votes; });
}

void active_mask(Lanes& lanes, uint32_t mask) {
  for_each_lane(mask, [&](int lane) { lanes.result[lane] = mask; });
}

using Matrix = float[8][8];

// The position of a lane's two elements in a matrix, as in Apple's layout.
struct Element {
  explicit Element(int lane) {
    int quad = lane / 4;
    row = (quad & 4) + (lane / 2) % 4;
    column = (quad & 2) * 2 + (lane % 2) * 2;
  }
  int row;
  int column;
};

uint64_t pack(float low, float high) { return to_bits(low) | to_bits(high) << 32; }

void gather(const uint64_t (&source)[kSimdWidth], uint32_t mask, Matrix& matrix) {
  for_each_lane(mask, [&](int lane) {
    Element at(lane);
    matrix[at.row][at.column] = from_bits<float>(source[lane]);
    matrix[at.row][at.column + 1] = from_bits<float>(source[lane] >> 32);
  });
}

// Elements of inactive lanes count as zero.
void multiply_accumulate(Lanes& lanes, uint32_t mask) {
  Matrix a{}, b{}, c{};
  gather(lanes.x, mask, a);
  gather(lanes.y, mask, b);
  gather(lanes.z, mask, c);
  for (auto i = 0; i < 8; ++i) {
    for (auto k = 0; k < 8; ++k) {
      for (auto j = 0; j < 8; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  for_each_lane(mask, [&](int lane) {
    Element at(lane);
    lanes.result[lane] = pack(c[at.row][at.column], c[at.row][at.column + 1]);
  });
}

template <class T>
T call(const Group* group, uint32_t site, LaneOperation operation, T value) {
  return from_bits<T>(scheduler_of(group).converge(site, operation, to_bits(value)));
}

}  // namespace

extern "C" {

void metal_cpu_barrier(const Group* group, uint32_t site, uint32_t scope, uint32_t) {
  if (scope == 0) {
    scheduler_of(group).converge(site, nullptr);
  } else {
    scheduler_of(group).threadgroup_barrier();
  }
}

void metal_cpu_reconverge(const Group* group, uint32_t site) {
  scheduler_of(group).converge(site, nullptr);
}

uint32_t metal_cpu_simd_shuffle_u32(const Group* group, uint32_t site, uint32_t value,
                                    uint32_t lane) {
  return static_cast<uint32_t>(scheduler_of(group).converge(site, shuffle, value, lane));
}

uint64_t metal_cpu_simd_shuffle_u64(const Group* group, uint32_t site, uint64_t value,
                                    uint32_t lane) {
  return scheduler_of(group).converge(site, shuffle, value, lane);
}

uint32_t metal_cpu_simd_ballot(const Group* group, uint32_t site, bool predicate) {
  return static_cast<uint32_t>(scheduler_of(group).converge(site, ballot, predicate));
}

uint32_t metal_cpu_simd_active_mask(const Group* group, uint32_t site) {
  return static_cast<uint32_t>(scheduler_of(group).converge(site, active_mask));
}

uint64_t metal_cpu_simdgroup_multiply_accumulate_f32(const Group* group, uint32_t site, float a0,
                                                     float a1, float b0, float b1, float c0,
                                                     float c1) {
  return scheduler_of(group).converge(site, multiply_accumulate, pack(a0, a1), pack(b0, b1),
                                      pack(c0, c1));
}

#define DEFINE_CALL(name, suffix, T, operation)                                    \
  T metal_cpu_simd_##name##_##suffix(const Group* group, uint32_t site, T value) { \
    return call<T>(group, site, operation, value);                                 \
  }

#define DEFINE_NUMERIC(suffix, T)                                            \
  DEFINE_CALL(sum, suffix, T, (reduce<T, Sum>))                              \
  DEFINE_CALL(product, suffix, T, (reduce<T, Product>))                      \
  DEFINE_CALL(min, suffix, T, (reduce<T, Min>))                              \
  DEFINE_CALL(max, suffix, T, (reduce<T, Max>))                              \
  DEFINE_CALL(prefix_inclusive_sum, suffix, T, (scan<T, Sum, true>))         \
  DEFINE_CALL(prefix_exclusive_sum, suffix, T, (scan<T, Sum, false>))        \
  DEFINE_CALL(prefix_inclusive_product, suffix, T, (scan<T, Product, true>)) \
  DEFINE_CALL(prefix_exclusive_product, suffix, T, (scan<T, Product, false>))

#define DEFINE_BITWISE(suffix, T)               \
  DEFINE_CALL(and, suffix, T, (reduce<T, And>)) \
  DEFINE_CALL(or, suffix, T, (reduce<T, Or>))   \
  DEFINE_CALL(xor, suffix, T, (reduce<T, Xor>))

DEFINE_NUMERIC(i32, int32_t)
DEFINE_NUMERIC(u32, uint32_t)
DEFINE_NUMERIC(i64, int64_t)
DEFINE_NUMERIC(u64, uint64_t)
DEFINE_NUMERIC(f32, float)
DEFINE_BITWISE(u32, uint32_t)
DEFINE_BITWISE(u64, uint64_t)
}

namespace metal::cpu {

std::span<const RuntimeCall> runtime_calls() {
#define ENTRY(R, name, ...) {"metal_cpu_" #name, reinterpret_cast<void*>(&metal_cpu_##name)},
  static const RuntimeCall calls[] = {METAL_CPU_RUNTIME_CALLS(ENTRY)};
#undef ENTRY
  return calls;
}

}  // namespace metal::cpu
