#include <metal_stdlib>
#include "sizes.h"
using namespace metal;

kernel void scale(device float* values [[buffer(0)]],
                  constant Sizes& sizes [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  values[i] *= sizes.factor;
}
