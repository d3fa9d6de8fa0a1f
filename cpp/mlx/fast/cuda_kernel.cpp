// Kernels written in CUDA: they throw, since there is no back end for them.
#include <stdexcept>

#include "mlx/fast.h"

namespace mlx::core::fast {

CustomKernelFunction cuda_kernel(const std::string&, const std::vector<std::string>&,
                                 const std::vector<std::string>&, const std::string&,
                                 const std::string&, bool, int) {
  throw std::runtime_error(
      "[cuda_kernel] No CUDA back-end: write the kernel in the Metal Shading Language, for "
      "metal_kernel.");
}

std::vector<array> precompiled_cuda_kernel(const std::string&, const std::string&,
                                           const std::vector<array>&, const std::vector<Shape>&,
                                           const std::vector<Dtype>&, const std::vector<ScalarArg>&,
                                           GridSize, GridSize, int, std::optional<float>, bool,
                                           StreamOrDevice) {
  throw std::runtime_error("[precompiled_cuda_kernel] No CUDA back-end.");
}

}  // namespace mlx::core::fast
