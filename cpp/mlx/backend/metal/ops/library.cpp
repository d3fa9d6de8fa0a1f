#include "mlx/backend/metal/ops/library.h"

#include "mlx/backend/common/copy.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

array library_operand(const array& a, Stream s) {
  constexpr int64_t kAlignment = 16;
  const bool fits = a.flags().row_contiguous && a.offset() % kAlignment == 0;
  return fits ? a : contiguous_copy(a, s);
}

MTL::LibraryBuffer library_workspace(size_t bytes, Stream s) {
  if (bytes == 0) return {nullptr, 0, false};
  constexpr size_t kWord = sizeof(uint64_t);
  const auto words = static_cast<ShapeElem>((bytes + kWord - 1) / kWord);
  return metal::CommandEncoder::library_output(temporary({words}, uint64, s));
}

::metal::MatrixType library_type(Dtype dtype) {
  using ::metal::MatrixType;
  switch (dtype.val()) {
    case Dtype::Val::float16:
      return MatrixType::Float16;
    case Dtype::Val::bfloat16:
      return MatrixType::Bfloat16;
    case Dtype::Val::complex64:
      return MatrixType::Complex64;
    default:
      return MatrixType::Float32;
  }
}

}  // namespace mlx::core
