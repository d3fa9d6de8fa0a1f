// Operations on float64, which Metal lacks, in plain C++ on the host.
#pragma once

#include "mlx/array.h"
#include "mlx/backend/common/op_kinds.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/reduce.h"
#include "mlx/stream.h"

namespace mlx::core::cpu {

// Each function schedules its work on the stream. Outputs are already allocated.
void unary_float64(UnaryOp op, const array& in, array& out, Stream s);
void binary_float64(BinaryOp op, const array& a, const array& b, array& out, Stream s);
void divmod_float64(const array& a, const array& b, array& quotient, array& remainder, Stream s);
void arange_float64(double start, double step, array& out, Stream s);

// Copies between views, one of which is float64.
void convert_float64(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                     const Strides& out_strides, int64_t in_offset, int64_t out_offset, Stream s);

void reduce_float64(Reduce::ReduceType op, const array& in, array& out,
                    const std::vector<int>& axes, Stream s);
void arg_reduce_float64(bool least, const array& in, array& out, int axis, Stream s);
// The arrays are row-contiguous.
void scan_float64(Scan::ReduceType op, const array& in, array& out, int axis, bool reverse,
                  bool inclusive, Stream s);
void softmax_float64(const array& in, array& out, Stream s);
void logsumexp_float64(const array& in, array& out, Stream s);

// Combines the updates with the elements at the row-major positions `offsets`. Negative positions
// are ignored.
void scatter_float64(Scatter::ReduceType op, const array& updates, const array& offsets, array& out,
                     const Shape& slice, Stream s);
// `indices` are int64.
void scatter_axis_sum_float64(const array& updates, const array& indices, array& out, int axis,
                              Stream s);

}  // namespace mlx::core::cpu
