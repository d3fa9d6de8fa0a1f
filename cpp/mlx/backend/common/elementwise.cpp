// Memory of elementwise outputs.
#include "mlx/backend/common/elementwise.h"

#include "mlx/backend/common/utils.h"

namespace mlx::core {

namespace {

void take_layout(const array& in, array& out) {
  if (is_donatable(in, out)) {
    out.copy_shared_buffer(in);
  } else {
    out.set_data(allocator::malloc(in.data_size() * out.itemsize()), in.data_size(), in.strides(),
                 in.flags());
  }
}

}  // namespace

void set_unary_output_data(const array& in, array& out) {
  if (in.flags().contiguous) {
    take_layout(in, out);
  } else {
    allocate_output(out);
  }
}

BinaryOpType get_binary_op_type(const array& a, const array& b) {
  if (is_scalar(a) && is_scalar(b)) {
    return BinaryOpType::ScalarScalar;
  }
  if (is_scalar(a) && b.flags().contiguous) {
    return BinaryOpType::ScalarVector;
  }
  if (is_scalar(b) && a.flags().contiguous) {
    return BinaryOpType::VectorScalar;
  }
  bool rows = a.flags().row_contiguous && b.flags().row_contiguous;
  bool cols = a.flags().col_contiguous && b.flags().col_contiguous;
  bool same = a.flags().contiguous && b.flags().contiguous && a.strides() == b.strides();
  return rows || cols || same ? BinaryOpType::VectorVector : BinaryOpType::General;
}

void set_binary_op_output_data(const array& a, const array& b, array& out, BinaryOpType type) {
  switch (type) {
    case BinaryOpType::ScalarScalar: {
      // Operands of one element may have fewer dimensions.
      const array& in = a.ndim() == out.ndim() ? a : b;
      out.set_data(allocator::malloc(out.itemsize()), 1, in.strides(), in.flags());
      break;
    }
    case BinaryOpType::ScalarVector:
      take_layout(b, out);
      break;
    case BinaryOpType::VectorScalar:
      take_layout(a, out);
      break;
    case BinaryOpType::VectorVector:
      take_layout(is_donatable(a, out) ? a : b, out);
      break;
    case BinaryOpType::General:
      // The output may replace an operand only if both are row-contiguous: then each element is
      // read before the one at the same place is written.
      if (a.flags().row_contiguous && is_donatable(a, out)) {
        out.copy_shared_buffer(a);
      } else if (b.flags().row_contiguous && is_donatable(b, out)) {
        out.copy_shared_buffer(b);
      } else {
        allocate_output(out);
      }
      break;
  }
}

}  // namespace mlx::core
