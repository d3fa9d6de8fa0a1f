// Names of element types in kernels' names.
#include "mlx/backend/metal/utils.h"

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

}  // namespace mlx::core
