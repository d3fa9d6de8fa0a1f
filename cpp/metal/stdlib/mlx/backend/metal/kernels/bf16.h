// MLX's name for bfloat, and its bits.
#pragma once

#include <metal_stdlib>

typedef bfloat bfloat16_t;

METAL_FUNC constexpr uint16_t bfloat16_to_uint16(const bfloat16_t x) {
  return metal::as_type<uint16_t>(x);
}
METAL_FUNC constexpr bfloat16_t uint16_to_bfloat16(const uint16_t x) {
  return metal::as_type<bfloat16_t>(x);
}
