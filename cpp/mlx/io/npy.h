// NumPy's format npy: a text that describes an array, then its elements.
#pragma once

#include <string>

#include "mlx/array.h"
#include "mlx/io/refusal.h"
#include "mlx/io/section.h"
#include "mlx/stream.h"

namespace mlx::core::io {

array read_npy(const Section& file, const Refusal& refuse, const Stream& s);

// What comes before the elements of a row-contiguous array.
std::string npy_header(const array& a);

}  // namespace mlx::core::io
