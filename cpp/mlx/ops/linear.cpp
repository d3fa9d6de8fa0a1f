// Products of matrices and tensors.
#include "mlx/ops/linear.h"

#include <algorithm>
#include <limits>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/linear.h"
#include "mlx/primitives/shape.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

void check_matmul(const array& a, const array& b, const std::string& op) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    invalid_argument(op, message("The inputs must have at least 1 dimension, but have shapes ",
                                 a.shape(), " and ", b.shape(), "."));
  }
  int inner = b.ndim() == 1 ? b.shape(0) : b.shape(-2);
  if (a.shape(-1) != inner) {
    invalid_argument(op, message("Last dimension of first input with shape ", a.shape(),
                                 " must match second to last dimension of second input with shape ",
                                 b.shape(), "."));
  }
  Dtype dtype = promote_types(a.dtype(), b.dtype());
  if (!issubdtype(dtype, inexact)) {
    invalid_argument(op, message("Only floating point and complex types are supported, but ",
                                 a.dtype(), " and ", b.dtype(), " were given."));
  }
}

Shape with_matrix(Shape batch, int rows, int columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

// While a function is recorded for all shapes, the other factor becomes an input, so that the batch
// can be computed anew.
array broadcast_batch(const array& a, const Shape& batch, const array& other, const Stream& s) {
  Shape shape = with_matrix(batch, a.shape(-2), a.shape(-1));
  if (a.shape() == shape || !detail::InTracing::in_dynamic_tracing())
    return broadcast_to(a, shape, s);
  return array(std::move(shape), a.dtype(), std::make_shared<BroadcastAxes>(s),
               {a, stop_gradient(other, s)});
}

// Both have at least 2 dimensions.
array matrix_product(array a, array b, Dtype dtype, const Stream& s) {
  if (rank(a) > 2 && rank(b) == 2 && a.shape(-1) > 0 && !detail::InTracing::in_dynamic_tracing() &&
      a.size() / a.shape(-1) <= std::numeric_limits<ShapeElem>::max()) {
    // Computes one tall product instead of many small ones.
    Shape shape = a.shape();
    shape.back() = b.shape(-1);
    array tall = flatten(a, 0, -2, s);
    return reshape(matrix_product(tall, b, dtype, s), shape, s);
  }
  std::tie(a, b) = broadcast_batches(a, b, s);
  Shape shape = with_matrix(batch_of(a), a.shape(-2), b.shape(-1));
  if (a.size() == 0 || b.size() == 0) {
    return zeros(shape, dtype, s);
  }
  return array(std::move(shape), dtype, std::make_shared<Matmul>(s), {a, b});
}

}  // namespace

std::pair<array, array> broadcast_batches(const array& a, const array& b, const Stream& s) {
  if (batch_of(a) == batch_of(b)) return {a, b};
  Shape batch = broadcast_shapes(batch_of(a), batch_of(b));
  return {broadcast_batch(a, batch, b, s), broadcast_batch(b, batch, a, s)};
}

array matmul(const array& a, const array& b, StreamOrDevice s) {
  check_matmul(a, b, "matmul");
  Stream stream = to_stream(s);
  Dtype dtype = promote_types(a.dtype(), b.dtype());
  array x = astype(a, dtype, stream);
  array y = astype(b, dtype, stream);
  // A vector on the left is a row, on the right a column; that axis is removed from the result.
  if (rank(a) == 1) {
    x = expand_dims(x, 0, stream);
  }
  if (rank(b) == 1) {
    y = expand_dims(y, 1, stream);
  }
  array out = matrix_product(x, y, dtype, stream);
  std::vector<int> added;
  if (rank(a) == 1) {
    added.push_back(rank(out) - 2);
  }
  if (rank(b) == 1) {
    added.push_back(rank(out) - 1);
  }
  return squeeze(out, added, stream);
}

array addmm(array c, array a, array b, const float& alpha, const float& beta, StreamOrDevice s) {
  check_matmul(a, b, "addmm");
  Stream stream = to_stream(s);
  Dtype dtype = result_type({a, b, c});
  if (rank(a) < 2 || rank(b) < 2 || a.size() == 0 || b.size() == 0 ||
      detail::InTracing::in_dynamic_tracing()) {
    array product = multiply(array(alpha, dtype), matmul(a, b, stream), stream);
    return add(product, multiply(array(beta, dtype), c, stream), stream);
  }
  std::tie(a, b) = broadcast_batches(astype(a, dtype, stream), astype(b, dtype, stream), stream);
  Shape shape = with_matrix(batch_of(a), a.shape(-2), b.shape(-1));
  c = broadcast_to(astype(c, dtype, stream), shape, stream);
  return array(std::move(shape), dtype, std::make_shared<AddMM>(stream, alpha, beta), {a, b, c});
}

array tensordot(const array& a, const array& b, const std::vector<int>& axes_a,
                const std::vector<int>& axes_b, StreamOrDevice s) {
  if (axes_a.size() != axes_b.size()) {
    invalid_argument("tensordot", message("Got ", axes_a.size(), " axes of the first input and ",
                                          axes_b.size(), " of the second."));
  }
  // Puts contracted axes last in a and first in b; then it is one matrix product.
  auto split_axes = [](const array& x, const std::vector<int>& axes, std::vector<int>& contracted,
                       Shape& free) {
    std::vector<int> kept;
    for (int axis : axes) {
      contracted.push_back(normalize_axis_index(axis, rank(x), "tensordot"));
    }
    normalize_axes(contracted, rank(x), "tensordot");
    for (int i = 0; i < rank(x); ++i) {
      if (std::find(contracted.begin(), contracted.end(), i) == contracted.end()) {
        kept.push_back(i);
        free.push_back(x.shape(i));
      }
    }
    return kept;
  };
  std::vector<int> contracted_a, contracted_b;
  Shape shape, shape_b;
  auto order_a = split_axes(a, axes_a, contracted_a, shape);
  auto kept_b = split_axes(b, axes_b, contracted_b, shape_b);
  int inner = 1;
  for (size_t i = 0; i < contracted_a.size(); ++i) {
    if (a.shape(contracted_a[i]) != b.shape(contracted_b[i])) {
      invalid_argument("tensordot",
                       message("Axes ", contracted_a[i], " of ", a.shape(), " and ",
                               contracted_b[i], " of ", b.shape(), " differ in length."));
    }
    inner *= a.shape(contracted_a[i]);
  }
  order_a.insert(order_a.end(), contracted_a.begin(), contracted_a.end());
  auto order_b = contracted_b;
  order_b.insert(order_b.end(), kept_b.begin(), kept_b.end());
  int rows = 1, columns = 1;
  for (int n : shape) {
    rows *= n;
  }
  for (int n : shape_b) {
    columns *= n;
  }
  array left = reshape(transpose(a, order_a, s), {rows, inner}, s);
  array right = reshape(transpose(b, order_b, s), {inner, columns}, s);
  shape.insert(shape.end(), shape_b.begin(), shape_b.end());
  return reshape(matmul(left, right, s), shape, s);
}

array tensordot(const array& a, const array& b, int axis, StreamOrDevice s) {
  if (axis < 0 || axis > std::min(rank(a), rank(b))) {
    invalid_argument(
        "tensordot",
        message("The number of axes must be between 0 and the smaller number of dimensions of ",
                a.shape(), " and ", b.shape(), ", but is ", axis, "."));
  }
  std::vector<int> axes_a, axes_b;
  for (int i = 0; i < axis; ++i) {
    axes_a.push_back(rank(a) - axis + i);
    axes_b.push_back(i);
  }
  return tensordot(a, b, axes_a, axes_b, s);
}

array inner(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    return multiply(a, b, s);
  }
  if (a.shape(-1) != b.shape(-1)) {
    invalid_argument("inner", message("The last axes of shapes ", a.shape(), " and ", b.shape(),
                                      " differ in length."));
  }
  return tensordot(a, b, {-1}, {-1}, s);
}

array outer(const array& a, const array& b, StreamOrDevice s) {
  return multiply(reshape(a, {-1, 1}, s), reshape(b, {-1}, s), s);
}

array vecdot(const array& a, const array& b, int axis, StreamOrDevice s) {
  if (a.ndim() == 0 || a.ndim() != b.ndim()) {
    invalid_argument("vecdot", message("The arrays must have as many dimensions, at least 1, but "
                                       "have the shapes ",
                                       a.shape(), " and ", b.shape(), "."));
  }
  axis = normalize_axis_index(axis, rank(a), "vecdot");
  if (a.shape(axis) != b.shape(axis)) {
    invalid_argument("vecdot", message("The arrays must have one length along the axis, but have "
                                       "the shapes ",
                                       a.shape(), " and ", b.shape(), "."));
  }
  return sum(multiply(conjugate(a, s), b, s), axis, false, s);
}

array kron(const array& a, const array& b, StreamOrDevice s) {
  if (a.size() == 0 || b.size() == 0) {
    invalid_argument("kron", message("The arrays must not be empty, but have the shapes ",
                                     a.shape(), " and ", b.shape(), "."));
  }
  int ndim = std::max(rank(a), rank(b));
  // The axes of a and b alternate, then each pair is merged into one.
  Shape shape_a, shape_b, shape;
  for (int i = 0; i < ndim; ++i) {
    int from_a = i - (ndim - rank(a));
    int from_b = i - (ndim - rank(b));
    int m = from_a < 0 ? 1 : a.shape(from_a);
    int n = from_b < 0 ? 1 : b.shape(from_b);
    shape_a.insert(shape_a.end(), {m, 1});
    shape_b.insert(shape_b.end(), {1, n});
    shape.push_back(checked_extent(int64_t{m} * n, "kron"));
  }
  return reshape(multiply(reshape(a, shape_a, s), reshape(b, shape_b, s), s), shape, s);
}

}  // namespace mlx::core
