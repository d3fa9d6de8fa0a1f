#include <metal_stdlib>
using namespace metal;

// Square roots where there are any.
kernel void roots(const device float* x [[buffer(0)]],
                  device float* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  if (x[i] >= 0) out[i] = sqrt(x[i]);
}
