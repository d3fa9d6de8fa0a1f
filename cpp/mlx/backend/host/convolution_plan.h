// oneDNN's primitives for convolutions.
#pragma once

#include <memory>

#include "mlx/backend/host/convolution.h"
#include "mlx/backend/host/onednn.h"

namespace mlx::core::cpu {

// What computes a part of convolutions of one geometry. Input and output are row-contiguous; the
// weight, float32 where it is computed, has an order of oneDNN's own.
struct ConvolutionPlan {
  dnnl::primitive primitive;
  dnnl::memory::desc input, weight, output, scratch;

  // `scratch` is working memory for this call.
  void run(ConvolutionPart part, const void* input, const void* weight, const void* output,
           void* scratch) const;
};

// float32 or bfloat16. `weight` is an order that another plan has chosen. Plans are kept for later
// calls.
std::shared_ptr<const ConvolutionPlan> plan_convolution(ConvolutionPart part,
                                                        const ConvolutionGeometry& geometry,
                                                        Dtype dtype,
                                                        const dnnl::memory::desc* weight = nullptr);

// Weights in row-major order.
dnnl::memory::desc row_major_weight(const ConvolutionGeometry& geometry, Dtype dtype);

}  // namespace mlx::core::cpu
