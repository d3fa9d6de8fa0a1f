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

// Gives `out` memory for a copy of `in`. Returns true if that is the memory of `in`, which is
// donatable, else allocates.
bool set_copy_output_data(const array& in, array& out, CopyType type);

// Allocates `out` and copies.
void copy(const array& in, array& out, CopyType type, Stream s);
// Copies into `out`'s existing memory.
void copy_inplace(const array& in, array& out, CopyType type, Stream s);
// Copies between views: shapes, strides and offsets count elements from the arrays' starts.
void copy_inplace(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, CopyType type,
                  Stream s);
// The same with further offsets, arrays of one integer that are read when the copy runs. A slice
// that would leave its array is an error that nobody finds.
void copy_inplace(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, CopyType type,
                  Stream s, const std::optional<array>& dynamic_in_offset,
                  const std::optional<array>& dynamic_out_offset);

// For older extensions that call it in eval_cpu: the copy has run when it returns.
void copy(const array& in, array& out, CopyType type);
void copy_inplace(const array& in, array& out, CopyType type);

// Returns a row-contiguous copy that lives until the stream has used it.
array contiguous_copy(const array& a, Stream s);
// Returns the array itself if it is row-contiguous, else such a copy.
array row_contiguous(const array& a, Stream s);
// Whether it is a large transposed array on the host. The lanes of an elementwise kernel would read
// such an operand from as many cache lines.
bool reads_apart(const array& a, Stream s);
// Returns a row-contiguous copy of such an array, and any other array itself.
array untransposed(const array& a, Stream s);
// Returns a row-contiguous array of another type.
array converted(const array& a, Dtype dtype, Stream s);

// Allocates `out` and fills it with `value`, a scalar.
void fill(const array& value, array& out, Stream s);

}  // namespace mlx::core
