// Index arguments of operations: checks, and access for any integer type.
#pragma once

#include <stdexcept>
#include <string>

#include "mlx/ops.h"

namespace mlx_sample {

namespace mx = mlx::core;

// Throws an error in an operation's name about its arguments.
[[noreturn]] void refuse(const char* operation, const std::string& message);

// The requirements on an index argument.
struct IndexArgument {
  const char* operation;
  const char* name;
  int64_t size;          // values are in [0, size)
  bool trusted = false;  // whether the caller guarantees the values
};

// Rejects indices that are not one-dimensional or not int32, uint32 or int64, and values out of
// range: now if the values are known, else when the result, which has the same values, is
// evaluated. The error is a std::invalid_argument in both cases.
mx::array checked_indices(const mx::array& indices, const IndexArgument& argument);

// Rejects an argument whose first axis has another length; `why` says where `length` comes from.
void check_length(const char* operation, const char* name, const mx::array& a, int64_t length,
                  const std::string& why);

// Returns f(T()), where T is the C++ type of the elements of checked indices.
template <typename F>
decltype(auto) with_index_type(mx::Dtype dtype, F&& f) {
  switch (dtype.val()) {
    case mx::Dtype::Val::int32:
      return f(int32_t());
    case mx::Dtype::Val::uint32:
      return f(uint32_t());
    case mx::Dtype::Val::int64:
      return f(int64_t());
    default:
      throw std::logic_error("[with_index_type] Indices of this type are refused before.");
  }
}

}  // namespace mlx_sample
