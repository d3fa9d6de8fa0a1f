// Arrays whose bytes lie in a file.
#pragma once

#include <vector>

#include "mlx/array.h"
#include "mlx/io/refusal.h"
#include "mlx/io/section.h"
#include "mlx/stream.h"

namespace mlx::core::io {

// Returns the shape of an array in a file; throws if its bytes are more than `available`.
Shape checked_shape(const std::vector<uint64_t>& extents, Dtype dtype, uint64_t available,
                    const Refusal& refuse);

// An array of row-contiguous elements from an offset on, which the caller has checked. If
// `swapped`, the bytes of each element are reversed. The elements are read when the array is
// evaluated if the reader allows it, else now.
array stored_array(const Section& file, uint64_t offset, Shape shape, Dtype dtype, bool swapped,
                   const Stream& s);

// Allocates a row-contiguous array; the caller writes its memory before it passes the array on.
array unwritten_array(Shape shape, Dtype dtype);
// A bool in C++ must be 0 or 1; a file may contain any byte.
void make_bools(void* bytes, size_t count);

// Reads elements of a type into memory, and swaps their bytes if necessary.
void read_elements(const Section& file, void* to, size_t bytes, uint64_t offset, Dtype dtype,
                   bool swapped);

// Prepares arrays for a file: evaluated and row-contiguous. All are computed before any file is
// opened, since they may be read from that file.
std::vector<array> arrays_to_write(std::vector<array> arrays);
void write_elements(Writer& writer, const array& a);

}  // namespace mlx::core::io
