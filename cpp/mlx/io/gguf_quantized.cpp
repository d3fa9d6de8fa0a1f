// Quantised arrays of the format GGUF in MLX's affine layout.
//
// A block holds 32 weights w of a row, q are its integers:
//   Q4_0: scale d (float16), 16 bytes.             w[i] = d * (q[i] - 8)
//   Q4_1: d, minimum m (both float16), 16 bytes.   w[i] = d * q[i] + m
//   Q8_0: d (float16), 32 signed bytes.            w[i] = d * q[i]
// In the types of 4 bits byte i holds q[i] in its low half and q[i + 16] in its high half. MLX has
// w[i] = scale * q[i] + bias with unsigned q[i], the first in the lowest bits of a uint32:
//   Q4_0: scale = d, bias = -8 d.   Q4_1: scale = d, bias = m.
//   Q8_0: scale = d, bias = -128 d, each integer raised by 128.
#include "mlx/io/gguf.h"
#include "mlx/ops.h"

namespace mlx::core::io {

namespace {

// Elements first to last - 1 of the last axis, with a stride of `step`.
array part(const array& a, int first, int last, int step, const Stream& s) {
  Shape start(a.ndim(), 0), stop = a.shape(), strides(a.ndim(), 1);
  start.back() = first;
  stop.back() = last;
  strides.back() = step;
  return slice(a, start, stop, strides, s);
}

// A float16 field of each block.
array numbers(const array& blocks, int first, const Stream& s) {
  return squeeze(view(part(blocks, first, first + 2, 1, s), float16, s), -1, s);
}

array byte(int value) { return array(value, uint8); }

// Reorders 4-bit integers from GGUF's order to MLX's.
array repacked(const array& bytes, const Stream& s) {
  const array codes =
      concatenate({bitwise_and(bytes, byte(15), s), right_shift(bytes, byte(4), s)}, -1, s);
  const int count = static_cast<int>(kGgufBlock);
  const array odd = left_shift(part(codes, 1, count, 2, s), byte(4), s);
  return bitwise_or(part(codes, 0, count, 2, s), odd, s);
}

}  // namespace

std::optional<QuantizedFormat> gguf_quantized_format(uint32_t number) {
  switch (number) {
    case 2:
      return QuantizedFormat{18, false, 4};
    case 3:
      return QuantizedFormat{20, true, 4};
    case 8:
      return QuantizedFormat{34, false, 8};
    default:
      return std::nullopt;
  }
}

AffineArrays affine_arrays(const array& blocks, const QuantizedFormat& format, const Stream& s) {
  const array scales = numbers(blocks, 0, s);
  const int zero = 1 << (format.bits - 1);
  const array biases = format.has_minimum
                           ? numbers(blocks, 2, s)
                           : multiply(scales, array(static_cast<float>(-zero), float16), s);
  const array bytes = part(blocks, format.has_minimum ? 4 : 2, blocks.shape(-1), 1, s);
  const array packed = format.bits == 4 ? repacked(bytes, s) : bitwise_xor(bytes, byte(zero), s);
  return {flatten(view(packed, uint32, s), -2, -1, s), scales, biases};
}

}  // namespace mlx::core::io
