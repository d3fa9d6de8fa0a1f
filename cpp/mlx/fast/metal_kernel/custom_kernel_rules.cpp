// Transformations of CustomKernel: it has no rules, so they throw.
#include <stdexcept>

#include "mlx/fast/metal_kernel/custom_kernel.h"

namespace mlx::core::fast {

namespace {

[[noreturn]] void throw_no_rule(const char* rule, const std::string& kernel) {
  throw std::invalid_argument(
      std::string("[metal_kernel] The kernel \"") + kernel + "\" has no " + rule +
      ": wrap the function that calls it in mx.custom_function and give that a " + rule + ".");
}

}  // namespace

std::vector<array> CustomKernel::jvp(const std::vector<array>&, const std::vector<array>&,
                                     const std::vector<int>&) {
  throw_no_rule("jvp", launch_.variant->name);
}

std::vector<array> CustomKernel::vjp(const std::vector<array>&, const std::vector<array>&,
                                     const std::vector<int>&, const std::vector<array>&) {
  throw_no_rule("vjp", launch_.variant->name);
}

std::pair<std::vector<array>, std::vector<int>> CustomKernel::vmap(const std::vector<array>&,
                                                                   const std::vector<int>&) {
  throw_no_rule("vmap", launch_.variant->name);
}

bool CustomKernel::is_equivalent(const Primitive& other) const {
  const auto& a = launch_;
  const auto& b = static_cast<const CustomKernel&>(other).launch_;
  return a.variant == b.variant && a.grid == b.grid && a.threadgroup == b.threadgroup &&
         a.init_value == b.init_value && a.ensure_row_contiguous == b.ensure_row_contiguous &&
         a.initial_inputs == b.initial_inputs && a.output_shapes == b.output_shapes &&
         a.checks == b.checks;
}

}  // namespace mlx::core::fast
