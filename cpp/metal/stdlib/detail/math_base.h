// Bit operations and the compiler's float operations that the math library uses.
#pragma once

// The functions of this library are error-free transformations and bit operations. They need IEEE
// arithmetic without contraction, whatever the math mode of the translation unit. Each header wraps
// its code in this pair of pragmas.
#pragma float_control(precise, on, push)
#pragma clang fp contract(off)

#define __METAL_MATH inline __attribute__((always_inline))

namespace metal::__math {

__METAL_MATH unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
__METAL_MATH float float_of(unsigned u) { return __builtin_bit_cast(float, u); }

__METAL_MATH float fma(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
__METAL_MATH float fabs(float x) { return float_of(bits_of(x) & 0x7fffffffu); }
__METAL_MATH float trunc(float x) { return __builtin_elementwise_trunc(x); }
__METAL_MATH float floor(float x) { return __builtin_elementwise_floor(x); }
__METAL_MATH float ceil(float x) { return __builtin_elementwise_ceil(x); }
__METAL_MATH float rint(float x) { return __builtin_elementwise_roundeven(x); }
__METAL_MATH float sqrt(float x) { return __builtin_elementwise_sqrt(x); }
__METAL_MATH float fmin(float x, float y) { return __builtin_elementwise_min(x, y); }
__METAL_MATH float fmax(float x, float y) { return __builtin_elementwise_max(x, y); }

__METAL_MATH unsigned sign_bit(float x) { return bits_of(x) & 0x80000000u; }
__METAL_MATH float copysign(float x, float y) {
  return float_of((bits_of(x) & 0x7fffffffu) | sign_bit(y));
}
__METAL_MATH float flip_sign(float x, unsigned sign) { return float_of(bits_of(x) ^ sign); }

// These test bits, so they work even if the compiler assumes that there are no NaNs.
__METAL_MATH bool is_nan(float x) { return (bits_of(x) & 0x7fffffffu) > 0x7f800000u; }
__METAL_MATH bool is_inf(float x) { return (bits_of(x) & 0x7fffffffu) == 0x7f800000u; }
__METAL_MATH bool is_finite(float x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }

// Like && and ||, without branches.
__METAL_MATH bool both(bool a, bool b) { return a & b; }
__METAL_MATH bool either(bool a, bool b) { return a | b; }
__METAL_MATH bool either_nan(float x, float y) { return either(is_nan(x), is_nan(y)); }

inline constexpr unsigned kInfinityBits = 0x7f800000u;
inline constexpr unsigned kNanBits = 0x7fc00000u;
__METAL_MATH float infinity() { return float_of(kInfinityBits); }
__METAL_MATH float quiet_nan() { return float_of(kNanBits); }

// 2^n for n in [-126, 127]; n = -127 gives 0 and n = 128 infinity.
__METAL_MATH float pow2i(int n) { return float_of(static_cast<unsigned>(n + 127) << 23); }

// Adding this rounds to an integer n (half to even), which is also in the low bits of the sum.
inline constexpr float kRoundMagic = 0x1.8p23f;
// The same, with the exponent of 2^n in the low bits.
inline constexpr float kExponentMagic = kRoundMagic + 127.0f;
// 2^n from n + kExponentMagic; n = -127 gives 0 and n = 128 infinity.
__METAL_MATH float pow2_of(float sum) { return float_of(bits_of(sum) << 23); }

// Sums and products with their rounding errors. Second results are returned by reference, not in a
// struct: calling conventions pack structs of floats into vectors and integers, and this packing
// would stay after inlining.
__METAL_MATH float two_sum(float a, float b, float& lo) {
  float s = a + b, t = s - a;
  lo = (a - (s - t)) + (b - t);
  return s;
}
// Needs |a| >= |b| or a == 0.
__METAL_MATH float fast_two_sum(float a, float b, float& lo) {
  float s = a + b;
  lo = b - (s - a);
  return s;
}
__METAL_MATH float two_product(float a, float b, float& lo) {
  float p = a * b;
  lo = fma(a, b, -p);
  return p;
}

// It may differ by 2 ulp from the exact result: GPUs have an instruction.
__METAL_MATH float fast_divide(float x, float y) {
#pragma clang fp reciprocal(on)
  return x / y;
}

}  // namespace metal::__math

#pragma float_control(pop)
