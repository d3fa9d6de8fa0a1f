// The format of quantised elements: how codes are packed into words, and what they mean.
#pragma once

#include "mlx/backend/metal/kernels/lanes.h"

// Codes are packed into words of 32 bits, from the lowest bits up, and may continue in the next
// word. A unit is 32 codes: as many words as a code has bits.

// ---- small floats ----

// 4 bits: sign, 2 of exponent, 1 of fraction. The largest number is 6.
struct E2M1 {
  static constexpr constant uint kBits = 4;
  static constexpr constant bool kBiased = false;
  static constexpr constant float kLargest = 6.0f;
  static constexpr constant float kOne = 16384.0f;  // `decode` returns values divided by this

  // The exponent's bits become the lowest ones of half's exponent: subnormal numbers stay
  // subnormal.
  static float decode(uint code) {
    return static_cast<float>(
        as_type<half>(static_cast<ushort>((code & 7) << 9 | (code & 8) << 12)));
  }
  // Rounds half to even; NaN becomes 0, and zero is never negative.
  static uint encode(float x) {
    float a = fabs(x);
    uint code = (a > 0.25f ? 1 : 0) + (a >= 0.75f ? 1 : 0) + (a > 1.25f ? 1 : 0) +
                (a >= 1.75f ? 1 : 0) + (a > 2.5f ? 1 : 0) + (a >= 3.5f ? 1 : 0) +
                (a > 5.0f ? 1 : 0);
    return code == 0 ? 0 : code | (as_type<uint>(x) >> 31 << 3);
  }
};

// 8 bits: sign, 4 of exponent, 3 of fraction. The largest number is 448, there is no infinity, and
// all other bits set are NaN.
struct E4M3 {
  using type = uint8_t;
  static constexpr constant uint kBits = 8;
  static constexpr constant uint kGroupsOfUnit = 2;  // if it is the type of scales
  static constexpr constant bool kBiased = false;
  static constexpr constant float kLargest = 448.0f;
  static constexpr constant float kOne = 256.0f;

  static float decode(uint code) {
    half number = as_type<half>(static_cast<ushort>((code & 0x7f) << 7 | (code & 0x80) << 8));
    return (code & 0x7f) == 0x7f ? NAN : static_cast<float>(number);
  }
  static float value(uint8_t code) { return decode(code) * kOne; }
  // Rounds half to even; too large values become the largest number.
  static uint encode(float x) {
    uint bits = as_type<uint>(x);
    uint magnitude = bits & 0x7fffffff;
    // Below 2^-6, codes count steps of 2^-9, which is the last digit of floats from 2^14 on.
    uint small = as_type<uint>(as_type<float>(magnitude) + 16384.0f) - as_type<uint>(16384.0f);
    uint large = (magnitude - (120u << 23) + 0x7ffff + (magnitude >> 20 & 1)) >> 20;
    uint code = magnitude < 0x3c800000 ? small : min(large, 0x7eu);
    return (magnitude > 0x7f800000 ? 0x7f : code) | (bits >> 24 & 0x80);
  }
};

// A power of two: 8 bits of exponent. 255 is NaN.
struct E8M0 {
  using type = uint8_t;
  static constexpr constant uint kGroupsOfUnit = 1;
  static float value(uint8_t code) {
    uint bits = code == 0 ? 0x00400000 : static_cast<uint>(code) << 23;
    return code == 255 ? NAN : as_type<float>(bits);
  }
  // The smallest power of two that is not less than x > 0; 1 for zero.
  static uint encode(float x) {
    if (!isfinite(x)) return 255;
    const uint bits = as_type<uint>(x);
    if (bits <= 0x00400000) return bits == 0 ? 127 : 0;
    return min(254u, (bits >> 23) + ((bits & 0x007fffff) != 0 ? 1u : 0u));
  }
};

// ---- integers with a scale and a bias ----

template <uint bits>
struct Integer {
  static constexpr constant uint kBits = bits;
  static constexpr constant bool kBiased = true;
  static constexpr constant float kOne = 1.0f;
  static float decode(uint code) { return static_cast<float>(code); }
};

// How a product with a vector decodes a code, which is faster: the code is moved up by `kUp` bits
// before. The result is the number divided by `kOne`; if the number is biased, 1 is added.
template <typename Number>
struct Raised {
  static constexpr constant uint kUp = 0;
  static constexpr constant float kOne = Number::kOne;
  static float decode(uint code) { return Number::decode(code); }
};

// The code becomes the first bits of the fraction of a float between 1 and 2, which takes no
// conversion.
template <uint bits>
struct Raised<Integer<bits>> {
  static constexpr constant uint kUp = 23 - bits;
  static constexpr constant float kOne = 1u << bits;
  static float decode(uint code) { return as_type<float>(code | as_type<uint>(1.0f)); }
};

template <typename T>
struct FloatScale {
  using type = T;
  static constexpr constant uint kGroupsOfUnit = 1;
  static float value(T scale) { return static_cast<float>(scale); }
};

// ---- packing ----

template <uint bits>
struct Packing {
  static constexpr constant uint kMask = (1u << bits) - 1;
  // Whether no code crosses a word boundary.
  static constexpr constant bool kWhole = 32 % bits == 0;
  // A pack is the smallest number of words that contains whole codes only.
  static constexpr constant uint kWords = kWhole ? 1 : bits % 2 == 0 ? bits / 2 : bits;
  static constexpr constant uint kNumbers = kWords * 32 / bits;

  // Code `i` of a pack, moved up by so many bits.
  static uint code(const thread uint* words, uint i, uint up = 0) {
    uint at = i * bits / 32;
    uint offset = i * bits % 32;
    uint code = offset >= up ? words[at] >> (offset - up) : words[at] << (up - offset);
    if (offset + bits > 32) {
      code |= words[at + 1] << (32 - offset + up);
    }
    return code & kMask << up;
  }

  // The lane's code of a unit, whose words are in the first lanes.
  static uint code_of_lane(uint word, uint lane) {
    uint offset = lane * bits % 32;
    uint code = simd_shuffle(word, static_cast<ushort>(lane * bits / 32)) >> offset;
    if (!kWhole) {
      uint next = simd_shuffle(word, static_cast<ushort>((lane * bits / 32 + 1) % 32));
      code |= (next << 1) << (31 - offset);
    }
    return code & kMask;
  }

  // The inverse: the word of the lane, if it is one of the first.
  static uint word_of_lane(uint code, uint lane) {
    uint mine = 0;
#pragma unroll
    for (uint i = 0; i < bits; ++i) {
      int shift = static_cast<int>(lane * bits) - static_cast<int>(32 * i);
      bool starts = shift >= 0 && shift < 32;
      bool ends = shift < 0 && shift > -static_cast<int>(bits);
      uint part = starts ? code << (shift & 31) : ends ? code >> (-shift & 31) : 0u;
      uint word = simd_or(part);
      mine = lane == i ? word : mine;
    }
    return mine;
  }
};
