// Arrays whose bytes lie in a file.
#pragma once

#include <memory>
#include <vector>

#include "mlx/array.h"
#include "mlx/io/reader.h"
#include "mlx/io/refusal.h"
#include "mlx/stream.h"

namespace mlx::core::io {

// The shape of an array that a file describes; refuses one whose bytes are more than `available`.
Shape checked_shape(const std::vector<uint64_t>& extents, Dtype dtype, uint64_t available,
                    const Refusal& refuse);

// Row-contiguous elements from an offset on, checked before, with the bytes of each in the reverse
// order if `swapped`. They are read when the array is evaluated if the reader allows it, else now.
array stored_array(const std::shared_ptr<Reader>& reader, uint64_t offset, Shape shape, Dtype dtype,
                   bool swapped, const Stream& s);

// A row-contiguous array whose memory is written before anyone else sees it.
array unwritten_array(Shape shape, Dtype dtype);
// A bool of C++ is 0 or 1, a file's may be any byte.
void make_bools(void* bytes, size_t count);

// Reads elements of a type into memory.
void read_elements(Reader& reader, void* to, size_t bytes, uint64_t offset, Dtype dtype,
                   bool swapped);

// Arrays as files hold them: evaluated, row-contiguous. All are computed before the first file is
// touched, which may be the one that they are read from.
std::vector<array> arrays_to_write(std::vector<array> arrays);
void write_elements(Writer& writer, const array& a);

}  // namespace mlx::core::io
