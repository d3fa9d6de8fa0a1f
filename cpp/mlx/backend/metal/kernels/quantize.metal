// Quantises and dequantises; both arrays are contiguous. A SIMD-group computes a group of elements,
// or two groups of 16.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/quantized.h"
#include "mlx/backend/metal/kernels/quantized_params.h"

struct Larger {
  static float apply(float a, float b) { return b > a ? b : a; }
};
struct Smaller {
  static float apply(float a, float b) { return b < a ? b : a; }
};

// With a global scale, scales are relative to it: then the largest of them is the largest E4M3
// number.
inline float global_factor(const device float* scale, int given) {
  float largest = given ? scale[0] : 0.0f;
  return largest > 0.0f ? largest / (E4M3::kLargest * E2M1::kLargest) : 1.0f;
}

struct AffineGroup {
  float scale;
  float bias;

  // The end of the range that is farther from zero, and zero, are exact; with 1 bit, both ends are.
  template <uint bits>
  static AffineGroup of_range(float low, float high) {
    float scale = max((high - low) / ((1u << bits) - 1), 1e-7f);
    if (bits == 1) return {scale, low};
    bool from_low = fabs(low) > fabs(high);
    float edge = from_low ? low : high;
    scale = from_low ? scale : -scale;
    float steps = rint(edge / scale);
    if (steps == 0.0f) return {scale, 0.0f};
    return {edge / steps, edge};
  }
};

template <typename T, uint bits>
[[kernel]] void quantize_affine(const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
                                device T* scales [[buffer(2)]], device T* biases [[buffer(3)]],
                                constant const uint& units [[buffer(4)]],
                                uint position [[thread_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
  uint group = position / kLanes;
  in += static_cast<int64_t>(group) * units * kLanes;
  out += static_cast<int64_t>(group) * units * bits;
  float low = INFINITY;
  float high = -INFINITY;
  for (uint unit = 0; unit < units; ++unit) {
    float x = static_cast<float>(in[unit * kLanes + lane]);
    low = Smaller::apply(low, x);
    high = Larger::apply(high, x);
  }
  AffineGroup g =
      AffineGroup::of_range<bits>(reduce_lanes<Smaller>(low), reduce_lanes<Larger>(high));
  for (uint unit = 0; unit < units; ++unit) {
    float x = static_cast<float>(in[unit * kLanes + lane]);
    float level = clamp(rint((x - g.bias) / g.scale), 0.0f, static_cast<float>((1u << bits) - 1));
    uint word = Packing<bits>::word_of_lane(static_cast<uint>(level), lane);
    if (lane < bits) {
      out[unit * bits + lane] = word;
    }
  }
  if (lane == 0) {
    scales[group] = convert<T>(g.scale);
    biases[group] = convert<T>(g.bias);
  }
}

template <typename T, typename Number, typename Scale>
[[kernel]] void quantize_float(const device T* in [[buffer(0)]], device uint* out [[buffer(1)]],
                               device uint8_t* scales [[buffer(2)]],
                               const device float* global_scale [[buffer(3)]],
                               constant const int& global_given [[buffer(4)]],
                               constant const uint& size [[buffer(5)]],
                               uint position [[thread_position_in_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint bits = Number::kBits;
  constexpr uint group_size = kLanes / Scale::kGroupsOfUnit;
  float x = position < size ? static_cast<float>(in[position]) : 0.0f;
  float largest = fabs(x);
  for (ushort distance = group_size / 2; distance > 0; distance /= 2) {
    largest = Larger::apply(largest, from_lane(largest, distance));
  }
  float factor = global_factor(global_scale, global_given);
  uint scale = Scale::encode(largest / Number::kLargest / factor);
  float step = Scale::value(static_cast<uint8_t>(scale)) * factor;
  uint word = Packing<bits>::word_of_lane(Number::encode(step == 0.0f ? 0.0f : x / step), lane);
  uint at = position / kLanes * bits + lane;
  if (lane < bits && at < size / kLanes * bits + size % kLanes * bits / kLanes) {
    out[at] = word;
  }
  if (lane % group_size == 0 && position < size) {
    scales[position / group_size] = static_cast<uint8_t>(scale);
  }
}

// Does nothing if `uses` says that nobody uses its output.
template <typename Number, typename Scale, typename T, typename U>
[[kernel]] void dequantize(const device uint* in [[buffer(0)]],
                           const device typename Scale::type* scales [[buffer(1)]],
                           const device T* biases [[buffer(2)]], device U* out [[buffer(3)]],
                           const device float* global_scale [[buffer(4)]],
                           const device int* uses [[buffer(5)]],
                           constant const DequantizeParams& p [[buffer(6)]],
                           uint position [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  if (p.uses_given && uses[0] == 0) return;
  constexpr uint bits = Number::kBits;
  uint unit = position / kLanes;
  uint words = p.size / kLanes * bits + p.size % kLanes * bits / kLanes;
  uint word = lane < bits && unit * bits + lane < words ? in[unit * bits + lane] : 0u;
  uint code = Packing<bits>::code_of_lane(word, lane);
  uint group = Scale::kGroupsOfUnit == 2 ? position / 16 : unit / p.units;
  if (position < p.size) {
    float scale = Scale::value(scales[group]) * Number::kOne;
    if (Number::kBiased) {
      out[position] =
          convert<U>(fma(Number::decode(code), scale, static_cast<float>(biases[group])));
    } else {
      scale *= global_factor(global_scale, p.global_given);
      out[position] = convert<U>(Number::decode(code) * scale);
    }
  }
}

template <typename T>
[[kernel]] void to_fp8(const device T* in [[buffer(0)]], device uint8_t* out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  out[i] = static_cast<uint8_t>(E4M3::encode(static_cast<float>(in[i])));
}

template <typename T>
[[kernel]] void from_fp8(const device uint8_t* in [[buffer(0)]], device T* out [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  out[i] = convert<T>(E4M3::value(in[i]));
}

#define DEQUANTIZE_AFFINE(bits, name, T, to_name, U)             \
  MLX_KERNEL("Dequantize_affine" #bits "_" #name "_" #to_name, \
             dequantize<Integer<bits>, FloatScale<T>, T, U>)
#define AFFINE(bits, name, T)                                               \
  MLX_KERNEL("Quantize_affine" #bits "_" #name, quantize_affine<T, bits>) \
  DEQUANTIZE_AFFINE(bits, name, T, name, T)
#define AFFINE_OF_BITS(bits)                                       \
  MLX_FOR_FLOATS(AFFINE, bits)                                     \
  DEQUANTIZE_AFFINE(bits, float16, half, float32, float)           \
  DEQUANTIZE_AFFINE(bits, bfloat16, bfloat16_t, float32, float)
AFFINE_OF_BITS(1)
AFFINE_OF_BITS(2)
AFFINE_OF_BITS(3)
AFFINE_OF_BITS(4)
AFFINE_OF_BITS(5)
AFFINE_OF_BITS(6)
AFFINE_OF_BITS(8)

#define FLOAT_MODE(mode, Number, Scale, name, T)                                 \
  MLX_KERNEL("Quantize_" #mode "_" #name, quantize_float<T, Number, Scale>) \
  MLX_KERNEL("Dequantize_" #mode "_uint8_" #name, dequantize<Number, Scale, uint8_t, T>)
MLX_FOR_FLOATS(FLOAT_MODE, mxfp4, E2M1, E8M0)
MLX_FOR_FLOATS(FLOAT_MODE, mxfp8, E4M3, E8M0)
MLX_FOR_FLOATS(FLOAT_MODE, nvfp4, E2M1, E4M3)

#define FP8(Op, name, T)                  \
  MLX_KERNEL("ToFP8_" #name, to_fp8<T>) \
  MLX_KERNEL("FromFP8_" #name, from_fp8<T>)
MLX_FOR_FLOATS(FP8, )
