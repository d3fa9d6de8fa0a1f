// Rotary position encoding, as one kernel.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Pairs of elements are coordinates, which turn by an angle: the position, times a scale, times the
// speed of the pair.
struct Rotation {
  int dims;          // elements of a row that turn: the first ones
  bool traditional;  // pairs are neighbours; else they are half of `dims` apart
  bool backwards;
  float scale;
  float exponent;  // the speed of pair i is exp(i * exponent), unless speeds are given

  bool operator==(const Rotation&) const = default;
  // Computes it from other operations. inputs: as those of RoPE.
  array compute(const std::vector<array>& inputs, const Stream& s) const;
};

// inputs: x (entries, ..., positions, row) of any floating type but float64; the offset of
// positions in int32, one or one for each entry; the speeds of pairs in float32, if they are given.
class RoPE : public UnaryPrimitive {
 public:
  explicit RoPE(Stream stream, int dims, bool traditional, bool backwards, float scale,
                float exponent)
      : UnaryPrimitive(stream), rotation_{dims, traditional, backwards, scale, exponent} {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(RoPE)
  DEFINE_STATE(RoPE, rotation_.dims, rotation_.traditional, rotation_.backwards, rotation_.scale,
               rotation_.exponent)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  std::vector<array> compute(const std::vector<array>& inputs) const {
    return {rotation_.compute(inputs, stream())};
  }

  Rotation rotation_;
};

}  // namespace mlx::core
