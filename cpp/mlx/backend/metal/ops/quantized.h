// What the evaluations of quantised operations share.
#pragma once

#include <string>

#include "mlx/array.h"
#include "mlx/primitives/quantization.h"
#include "mlx/stream.h"

namespace mlx::core {

// Quantised formats that the kernels know: in affine mode, one for each number of bits.
constexpr int kQuantizedKinds = 10;
int quantized_kind(const Quantization& q);
std::string quantized_name(const Quantization& q);

// Rounds n up to a multiple of a SIMD-group's threads.
inline size_t in_simd_groups(size_t n) { return (n + 31) / 32 * 32; }

// Contiguous packed elements, their scales and, in affine mode, biases.
struct QuantizedArrays {
  array w;
  array scales;
  array biases;  // in other modes, the scales once more

  // Takes the quantised array from the inputs of a primitive, starting at `first`.
  QuantizedArrays(const std::vector<array>& inputs, size_t first, const Quantization& q, Stream s);
};

// A range of elements, which starts `first` elements behind the start of w.
struct QuantizedPart {
  size_t first;
  size_t count;
  const array* global_scale = nullptr;
  // If given, how often the range is used; nothing is computed for 0.
  const array* uses = nullptr;
  int64_t use = 0;
};

// Dequantises the range to the start of `out`.
void dequantize_part(const QuantizedArrays& in, const Quantization& q, const QuantizedPart& part,
                     array& out, Stream s);

}  // namespace mlx::core
