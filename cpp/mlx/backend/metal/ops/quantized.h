// What evaluations of operations on numbers of few bits share.
#pragma once

#include <string>

#include "mlx/array.h"
#include "mlx/primitives/quantization.h"
#include "mlx/stream.h"

namespace mlx::core {

// Kinds of numbers of few bits that kernels know: in affine mode one for each count of bits.
constexpr int kQuantizedKinds = 9;
int quantized_kind(const Quantization& q);
std::string quantized_name(const Quantization& q);

// n, or the next multiple of a SIMD-group's threads.
inline size_t in_simd_groups(size_t n) { return (n + 31) / 32 * 32; }

// Contiguous packed numbers, their scales and, in affine mode, biases.
struct QuantizedArrays {
  array w;
  array scales;
  array biases;  // in other modes, the scales once more

  // Inputs of a primitive from `first` on.
  QuantizedArrays(const std::vector<array>& inputs, size_t first, const Quantization& q, Stream s);
};

// Numbers from `first` on, counted from the start of w.
struct QuantizedPart {
  size_t first;
  size_t count;
  const array* global_scale = nullptr;
  // Where given: how often the part is used, which may be never.
  const array* uses = nullptr;
  int64_t use = 0;
};

// The part's numbers as floats, at the start of `out`.
void dequantize_part(const QuantizedArrays& in, const Quantization& q, const QuantizedPart& part,
                     array& out, Stream s);

}  // namespace mlx::core
