// The text in front of an npy file's elements: a dictionary in Python's notation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mlx/io/refusal.h"

namespace mlx::core::io {

struct NpyHeader {
  std::string descr;  // NumPy's name of the type, such as "<f4"
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

NpyHeader parse_npy_header(std::string_view text, const Refusal& refuse);

}  // namespace mlx::core::io
