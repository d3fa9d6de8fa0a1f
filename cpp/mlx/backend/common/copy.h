// Copies between arrays, with conversion of the element type.
#pragma once

#include <optional>

#include "mlx/array.h"
#include "mlx/stream.h"

namespace mlx::core {

enum class CopyType {
  Scalar,          // one element, repeated
  Vector,          // both contiguous in the same order
  General,         // any input, row-contiguous output
  GeneralGeneral,  // any input, any output
};

// Gives `out` its memory for a copy of `in`: the input's own if it is donatable (true), else fresh.
bool set_copy_output_data(const array& in, array& out, CopyType type);

// Allocates `out`, and copies.
void copy(const array& in, array& out, CopyType type, Stream s);
// Into `out`'s existing memory.
void copy_inplace(const array& in, array& out, CopyType type, Stream s);
// Between views: shapes, strides and offsets in elements, which count from the arrays' starts.
void copy_inplace(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, CopyType type,
                  Stream s);

// As older extensions call it from eval_cpu: has run when it returns.
void copy(const array& in, array& out, CopyType type);
void copy_inplace(const array& in, array& out, CopyType type);

// A row-contiguous copy that lives until the stream has used it.
array contiguous_copy(const array& a, Stream s);
// The array itself if row-contiguous, else such a copy.
array row_contiguous(const array& a, Stream s);
// A row-contiguous array of another type.
array converted(const array& a, Dtype dtype, Stream s);

// `value`, a scalar, in every element of `out`, which gets its memory.
void fill(const array& value, array& out, Stream s);

}  // namespace mlx::core
