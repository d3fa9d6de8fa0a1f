// Checks of the arguments of custom kernels. All throw std::invalid_argument.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mlx/fast.h"
#include "mlx/fast/metal_kernel/custom_kernel.h"
#include "mlx/fast/metal_kernel/lexer.h"

namespace mlx::core::fast {

// Checks the names of a kernel's parameters: each must be valid and different from the others.
class NameSet {
 public:
  explicit NameSet(std::string_view kernel) : kernel_(kernel) {}
  void add(const std::string& name, const char* what);
  const IdentifierSet& all() const { return names_; }

 private:
  std::string_view kernel_;
  IdentifierSet names_;
};

void check_count(const std::string& kernel, const char* argument, size_t given,
                 const std::vector<std::string>& names);
void check_shape(const Shape& shape, const std::string& output);
void check_atomic(Dtype dtype, const std::string& output);
void check_buffer_count(const std::string& kernel, size_t count);
void check_launch(const std::string& kernel, GridSize grid, GridSize threadgroup);

KernelMathMode parse_compile_options(const std::map<std::string, std::string>& options);

// "(64, 1, 1)"
std::string as_text(GridSize size);

// The MSL type for elements of `dtype`. `what` names the argument in errors.
std::string_view kernel_type(Dtype dtype, const std::string& what);

// The stream that a kernel runs on, which may be of either device.
Stream kernel_stream(StreamOrDevice s);

}  // namespace mlx::core::fast
