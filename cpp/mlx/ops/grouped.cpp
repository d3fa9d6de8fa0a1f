// Products of matrices chosen by indices, with masked blocks, and of segments of matrices.
#include "mlx/primitives/grouped.h"

#include <algorithm>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/ops/grouped_indices.h"

namespace mlx::core {

bool shape_of_nothing(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

array flattened_batch(const array& a, const Stream& s) {
  if (a.ndim() == 2) return expand_dims(a, 0, s);
  return flatten(a, 0, -3, s);
}

array own_indices(const Shape& batch, const Stream& s) {
  int64_t count = 1;
  for (int n : batch) count *= n;
  return reshape(arange(static_cast<int>(count), s), batch, s);
}

std::pair<array, array> index_pairs(const std::string& op, const std::optional<array>& lhs,
                                    const std::optional<array>& rhs, const array& a, const array& b,
                                    const Stream& s) {
  auto indices = [&](const std::optional<array>& given, const array& of, const char* name) {
    if (!given) return own_indices(batch_of(of), s);
    if (!issubdtype(given->dtype(), integer)) {
      invalid_argument(op,
                       message(name, " must be integers, but have the type ", given->dtype(), "."));
    }
    return astype(*given, int32, s);
  };
  array left = indices(lhs, a, "lhs_indices");
  array right = indices(rhs, b, "rhs_indices");
  const bool takes_none = left.size() == 0 || right.size() == 0;
  if (!takes_none && (shape_of_nothing(batch_of(a)) || shape_of_nothing(batch_of(b)))) {
    invalid_argument(
        op, message("Indices of matrices are given, but there are none: the shapes are ", a.shape(),
                    " and ", b.shape(), "."));
  }
  auto both = broadcast_arrays({left, right}, s);
  return {both[0], both[1]};
}

namespace {

// Checks and promotes them as matmul does.
Dtype checked_product(const char* op, const array& a, const array& b, bool batched = true) {
  if (a.ndim() < 2 || b.ndim() < 2 || (!batched && (a.ndim() > 2 || b.ndim() > 2))) {
    invalid_argument(
        op, message("The inputs must have ", batched ? "at least " : "",
                    "2 dimensions, but have the shapes ", a.shape(), " and ", b.shape(), "."));
  }
  if (a.shape(-1) != b.shape(-2)) {
    invalid_argument(op, message("Last dimension of first input with shape ", a.shape(),
                                 " must match second to last dimension of second input with shape ",
                                 b.shape(), "."));
  }
  const Dtype dtype = result_type(a, b);
  if (!issubdtype(dtype, floating)) {
    invalid_argument(op, message("Only real floating point types are supported, but ", a.dtype(),
                                 " and ", b.dtype(), " were given."));
  }
  return dtype;
}

}  // namespace

array gather_mm(array a, array b, std::optional<array> lhs_indices,
                std::optional<array> rhs_indices, bool, StreamOrDevice s) {
  if (!lhs_indices && !rhs_indices) return matmul(a, b, s);
  const Stream stream = to_stream(s);
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  if (row) a = expand_dims(a, 0, stream);
  if (column) b = expand_dims(b, 1, stream);
  const Dtype dtype = checked_product("gather_mm", a, b);
  auto [lhs, rhs] = index_pairs("gather_mm", lhs_indices, rhs_indices, a, b, stream);
  std::vector<array> inputs{flattened_batch(astype(a, dtype, stream), stream),
                            flattened_batch(astype(b, dtype, stream), stream), lhs, rhs};
  auto primitive = std::make_shared<GatherMM>(stream);
  Shape shape = primitive->output_shapes(inputs)[0];
  const bool nothing = shape_of_nothing(shape) || a.shape(-1) == 0;
  array out =
      nothing ? zeros(shape, dtype, stream) : array(std::move(shape), dtype, primitive, inputs);
  if (column) out = squeeze(out, -1, stream);
  return row ? squeeze(out, column ? -1 : -2, stream) : out;
}

namespace {

// Repeats each element of a mask over a block of a `rows` by `columns` matrix.
array spread(const array& mask, int block, int rows, int columns, const Stream& s) {
  array all = repeat(repeat(mask, block, -2, s), block, -1, s);
  Shape start(all.ndim(), 0), stop = all.shape();
  stop[stop.size() - 2] = rows;
  stop.back() = columns;
  return slice(all, start, stop, s);
}

array masked(const array& a, const std::optional<array>& mask, int block, const char* name,
             const Stream& s) {
  if (!mask) return a;
  const char* op = "block_masked_mm";
  const int rows = a.shape(-2), columns = a.shape(-1);
  const int block_rows = (rows + block - 1) / block, block_columns = (columns + block - 1) / block;
  if (mask->ndim() < 2 || mask->shape(-2) != block_rows || mask->shape(-1) != block_columns) {
    invalid_argument(op, message(name, " has the shape ", mask->shape(),
                                 ", but its last two dimensions must be (", block_rows, ",",
                                 block_columns, ")."));
  }
  if (mask->dtype() == complex64) invalid_argument(op, message(name, " must not be complex."));
  array all = spread(*mask, block, rows, columns, s);
  if (mask->dtype() == bool_) return where(all, a, scalar(0, a), s);
  return multiply(a, astype(all, a.dtype(), s), s);
}

}  // namespace

array block_masked_mm(array a, array b, int block_size, std::optional<array> mask_out,
                      std::optional<array> mask_lhs, std::optional<array> mask_rhs,
                      StreamOrDevice s) {
  const char* op = "block_masked_mm";
  if (block_size < 1) {
    invalid_argument(op, message("The block size must be positive, but is ", block_size, "."));
  }
  const Stream stream = to_stream(s);
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  if (row) a = expand_dims(a, 0, stream);
  if (column) b = expand_dims(b, 1, stream);
  const Dtype dtype = checked_product(op, a, b);
  array left = masked(astype(a, dtype, stream), mask_lhs, block_size, "mask_lhs", stream);
  array right = masked(astype(b, dtype, stream), mask_rhs, block_size, "mask_rhs", stream);
  array out = masked(matmul(left, right, stream), mask_out, block_size, "mask_out", stream);
  if (column) out = squeeze(out, -1, stream);
  return row ? squeeze(out, column ? -1 : -2, stream) : out;
}

array segmented_mm(array a, array b, array segments, StreamOrDevice s) {
  const char* op = "segmented_mm";
  const Dtype dtype = checked_product(op, a, b, false);
  if (!issubdtype(segments.dtype(), integer)) {
    invalid_argument(
        op, message("segments must be integers, but have the type ", segments.dtype(), "."));
  }
  if (segments.ndim() == 0 || segments.shape(-1) != 2) {
    invalid_argument(op, message("The last dimension of segments must be 2, a start and an end, "
                                 "but their shape is ",
                                 segments.shape(), "."));
  }
  const Stream stream = to_stream(s);
  std::vector<array> inputs{astype(a, dtype, stream), astype(b, dtype, stream),
                            astype(segments, int64, stream)};
  auto primitive = std::make_shared<SegmentedMM>(stream);
  Shape shape = primitive->output_shapes(inputs)[0];
  if (shape_of_nothing(shape) || a.shape(1) == 0) return zeros(shape, dtype, stream);
  return array(std::move(shape), dtype, primitive, inputs);
}

}  // namespace mlx::core
