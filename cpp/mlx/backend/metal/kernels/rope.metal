// The rotary position encoding: the first threads of a row turn a pair of elements each, the others
// copy the elements that stay.
#include "mlx/backend/metal/kernels/instantiate.h"
#include "mlx/backend/metal/kernels/types.h"

struct RotationParams {
  int64_t strides[3];  // between entries, their matrices, and the rows of these
  uint dims;           // elements of a row that turn
  uint row;            // elements of a row
  uint positions;
  uint matrices;     // of an entry
  uint offset_step;  // 0 if all entries have one offset
  float scale;
  float exponent;  // the speed of pair i is exp(i * exponent)
  float direction;
};

template <typename T, bool neighbours, bool listed>
[[kernel]] void rope(const device T* x [[buffer(0)]], const device int* offsets [[buffer(1)]],
                     const device float* speeds [[buffer(2)]], device T* out [[buffer(3)]],
                     constant const RotationParams& p [[buffer(4)]],
                     uint3 at [[thread_position_in_grid]]) {
  uint entry = at.z / p.matrices;
  x += entry * p.strides[0] + at.z % p.matrices * p.strides[1] + at.y * p.strides[2];
  out += (static_cast<int64_t>(at.z) * p.positions + at.y) * p.row;
  uint pairs = p.dims / 2;
  if (at.x >= pairs) {
    uint stays = pairs + at.x;
    out[stays] = x[stays];
    return;
  }
  float speed = listed ? speeds[at.x] : precise::exp(static_cast<float>(at.x) * p.exponent);
  float position = static_cast<float>(at.y) + static_cast<float>(offsets[entry * p.offset_step]);
  float angle = position * p.scale * speed;
  float cosine = precise::cos(angle);
  float sine = precise::sin(angle) * p.direction;
  uint first = neighbours ? 2 * at.x : at.x;
  uint second = neighbours ? first + 1 : first + pairs;
  float a = static_cast<float>(x[first]);
  float b = static_cast<float>(x[second]);
  out[first] = convert<T>(a * cosine - b * sine);
  out[second] = convert<T>(a * sine + b * cosine);
}

#define ROPE(pairs, neighbours, speeds, listed, name, T) \
  MLX_KERNEL("RoPE_" #pairs "_" #speeds "_" #name, rope<T, neighbours, listed>)
MLX_FOR_FLOATS(ROPE, halves, false, powers, false)
MLX_FOR_FLOATS(ROPE, halves, false, listed, true)
MLX_FOR_FLOATS(ROPE, neighbours, true, powers, false)
MLX_FOR_FLOATS(ROPE, neighbours, true, listed, true)
