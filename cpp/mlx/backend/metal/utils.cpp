// Names of element types in kernels' names.
#include "mlx/backend/metal/utils.h"

#include <stdexcept>

namespace mlx::core {

const char* type_name(Dtype dtype) {
  switch (dtype.val()) {
    case Dtype::Val::bool_:
      return "bool_";
    case Dtype::Val::uint8:
      return "uint8";
    case Dtype::Val::uint16:
      return "uint16";
    case Dtype::Val::uint32:
      return "uint32";
    case Dtype::Val::uint64:
      return "uint64";
    case Dtype::Val::int8:
      return "int8";
    case Dtype::Val::int16:
      return "int16";
    case Dtype::Val::int32:
      return "int32";
    case Dtype::Val::int64:
      return "int64";
    case Dtype::Val::float16:
      return "float16";
    case Dtype::Val::float32:
      return "float32";
    case Dtype::Val::float64:
      return "float64";
    case Dtype::Val::bfloat16:
      return "bfloat16";
    case Dtype::Val::complex64:
      return "complex64";
  }
  return "unknown";
}

void check_kernel_threadgroup_size(const MTL::ComputePipelineState* kernel, MTL::Size group,
                                   const std::string& name) {
  auto threads = group.width * group.height * group.depth;
  auto allowed = kernel->maxTotalThreadsPerThreadgroup();
  if (threads > allowed) {
    throw std::runtime_error("The kernel " + name + " runs at most " + std::to_string(allowed) +
                             " threads in a threadgroup, but " + std::to_string(threads) +
                             " were asked for.");
  }
}

}  // namespace mlx::core
