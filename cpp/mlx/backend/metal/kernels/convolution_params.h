// Parameters of the kernels for convolutions; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

// The most spatial axes that the kernels take; channels of a thread, if groups have one each.
enum { kSpatialAxes = 3, kDepthwise = 4 };

// The result's pixel r reads, with the weight's element k, the source's pixel
// (r * step + k * weight_step + first) / divisor: nothing, if that is outside or no whole number.
struct ConvolutionAxisParams {
  int32_t result, weight, source;  // extents
  int32_t step, weight_step, first, divisor;
};

struct ConvolutionParams {
  struct ConvolutionAxisParams axes[kSpatialAxes];
  uint32_t groups;
  uint32_t sources, results;  // channels of each group
  uint32_t elements;          // of a weight, for each pair of channels
  // Distances in the weight.
  int64_t group_step, result_step, element_step, source_step;
};
