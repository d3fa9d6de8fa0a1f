// Lists of element types over which kernel templates are instantiated: F(name, type, ...) for each.
#pragma once

#define MLX_FOR_BOOL(F, ...) F(__VA_ARGS__, bool_, bool)
#define MLX_FOR_UNSIGNED(F, ...)   \
  F(__VA_ARGS__, uint8, uint8_t)   \
  F(__VA_ARGS__, uint16, uint16_t) \
  F(__VA_ARGS__, uint32, uint32_t) \
  F(__VA_ARGS__, uint64, uint64_t)
#define MLX_FOR_SIGNED(F, ...)   \
  F(__VA_ARGS__, int8, int8_t)   \
  F(__VA_ARGS__, int16, int16_t) \
  F(__VA_ARGS__, int32, int32_t) \
  F(__VA_ARGS__, int64, int64_t)
#define MLX_FOR_FLOATS(F, ...)         \
  F(__VA_ARGS__, float16, half)        \
  F(__VA_ARGS__, bfloat16, bfloat16_t) \
  F(__VA_ARGS__, float32, float)
#define MLX_FOR_COMPLEX(F, ...) F(__VA_ARGS__, complex64, complex64_t)

#define MLX_FOR_INTEGERS(F, ...)   \
  MLX_FOR_UNSIGNED(F, __VA_ARGS__) \
  MLX_FOR_SIGNED(F, __VA_ARGS__)
#define MLX_FOR_REALS(F, ...)      \
  MLX_FOR_INTEGERS(F, __VA_ARGS__) \
  MLX_FOR_FLOATS(F, __VA_ARGS__)
#define MLX_FOR_NUMBERS(F, ...) \
  MLX_FOR_REALS(F, __VA_ARGS__) \
  MLX_FOR_COMPLEX(F, __VA_ARGS__)
#define MLX_FOR_ALL(F, ...)    \
  MLX_FOR_BOOL(F, __VA_ARGS__) \
  MLX_FOR_NUMBERS(F, __VA_ARGS__)

// Element types by size, for kernels that only move values.
#define MLX_FOR_SIZES(F, ...)     \
  F(__VA_ARGS__, size1, uint8_t)  \
  F(__VA_ARGS__, size2, uint16_t) \
  F(__VA_ARGS__, size4, uint32_t) \
  F(__VA_ARGS__, size8, uint64_t)

#define MLX_KERNEL(host, ...) \
  template [[host_name(host)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;
