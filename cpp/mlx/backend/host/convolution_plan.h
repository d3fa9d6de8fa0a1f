// oneDNN's primitives for convolutions.
#pragma once

#include <memory>

#include "mlx/backend/host/convolution.h"
#include "mlx/backend/host/onednn.h"

namespace mlx::core::cpu {

// Computes a part of convolutions of one geometry. Input and output are row-contiguous. oneDNN
// chooses the order of the weight; a weight that is computed is float32.
struct ConvolutionPlan {
  dnnl::primitive primitive;
  dnnl::memory::desc input, weight, output, scratch;

  // `scratch` is working memory for this call.
  void run(ConvolutionPart part, const void* input, const void* weight, const void* output,
           void* scratch) const;
};

// `dtype` is float32 or bfloat16. `weight` is an order that another plan has chosen. Plans are
// cached.
std::shared_ptr<const ConvolutionPlan> plan_convolution(ConvolutionPart part,
                                                        const ConvolutionGeometry& geometry,
                                                        Dtype dtype,
                                                        const dnnl::memory::desc* weight = nullptr);

// Weights in row-major order.
dnnl::memory::desc row_major_weight(const ConvolutionGeometry& geometry, Dtype dtype);

}  // namespace mlx::core::cpu
