// Types and metadata of the format GGUF, for its reader and its writer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "mlx/array.h"
#include "mlx/io/refusal.h"
#include "mlx/stream.h"

namespace mlx::core::io {

inline constexpr char kGgufMagic[] = {'G', 'G', 'U', 'F'};
inline constexpr uint32_t kGgufVersion = 3;
inline constexpr uint64_t kGgufAlignment = 32;
inline constexpr const char* kGgufAlignmentKey = "general.alignment";
inline constexpr uint32_t kGgufMostAxes = 8;

// Kinds of metadata that are not single numbers.
inline constexpr uint32_t kGgufString = 8;
inline constexpr uint32_t kGgufArray = 9;

// The numbers of array types and of metadata types in the format.
std::optional<Dtype> gguf_array_type(uint32_t number);
std::optional<uint32_t> gguf_array_number(Dtype dtype);
std::optional<Dtype> gguf_metadata_type(uint32_t number);
std::optional<uint32_t> gguf_metadata_number(Dtype dtype);
// Covers also types that are not supported: "Q6_K".
std::string gguf_type_name(uint32_t number);

// Rounds `value` up to a multiple.
inline uint64_t aligned(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// A type of quantised arrays: blocks of 32 weights with one scale each.
struct QuantizedFormat {
  uint64_t block_bytes;
  bool has_minimum;  // it follows the scale; else zero is in the middle of the integers' range
  int bits;
};
std::optional<QuantizedFormat> gguf_quantized_format(uint32_t number);

inline constexpr uint64_t kGgufBlock = 32;  // weights

// Converts blocks, uint8 of shape (..., n / 32, block_bytes), to the arrays of MLX's affine
// quantisation in groups of 32, where w = scale * q + bias.
struct AffineArrays {
  array weights;  // uint32 of shape (..., n * bits / 32): element i is in the i-th lowest bits
  array scales;   // float16 of shape (..., n / 32)
  array biases;
};
AffineArrays affine_arrays(const array& blocks, const QuantizedFormat& format, const Stream& s);

}  // namespace mlx::core::io
