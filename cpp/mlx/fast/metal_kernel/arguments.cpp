// Checks of the arguments of custom kernels.
#include "mlx/fast/metal_kernel/arguments.h"

#include <algorithm>
#include <stdexcept>

#include "mlx/fast/metal_kernel/signature.h"
#include "mlx/fast/metal_kernel/text.h"

namespace mlx::core::fast {

namespace {

// The limit on Apple hardware.
constexpr int64_t kMaxThreadsPerThreadgroup = 1024;
constexpr size_t kMaxBuffers = 31;

[[noreturn]] void fail(const std::string& message) {
  throw std::invalid_argument("[metal_kernel] " + message);
}

}  // namespace

std::string as_text(GridSize size) {
  auto [x, y, z] = size;
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

void NameSet::add(const std::string& name, const char* what) {
  std::string reason = reason_against_name(name);
  if (!reason.empty()) {
    fail("Kernel " + in_quotes(kernel_) + " cannot have the " + what + " name " + in_quotes(name) +
         ": " + reason + ".");
  }
  if (!names_.insert(name).second) {
    fail("Kernel " + in_quotes(kernel_) + " has more than one parameter called " + in_quotes(name) +
         "; names of inputs, outputs and template parameters must differ.");
  }
}

void check_count(const std::string& kernel, const char* argument, size_t given,
                 const std::vector<std::string>& names) {
  if (given == names.size()) return;
  fail("Kernel " + in_quotes(kernel) + " expects " + std::to_string(names.size()) + " " + argument +
       (names.empty() ? "" : " (" + joined(names) + ")") + ", got " + std::to_string(given) + ".");
}

void check_shape(const Shape& shape, const std::string& output) {
  for (auto extent : shape) {
    if (extent < 0) {
      fail("output_shapes: the output " + in_quotes(output) + " has the negative dimension " +
           std::to_string(extent) + ".");
    }
  }
}

// Metal itself has atomics of 32 and 64 bits; our standard library adds the narrower types.
void check_atomic(Dtype dtype, const std::string& output) {
  if (dtype.val() != Dtype::Val::complex64) return;
  fail("atomic_outputs=True: the output " + in_quotes(output) +
       " is complex64, for which there are no atomics; allowed are all other types.");
}

void check_buffer_count(const std::string& kernel, size_t count) {
  if (count <= kMaxBuffers) return;
  fail("Kernel " + in_quotes(kernel) + " needs " + std::to_string(count) +
       " buffers (inputs, outputs, and the _shape, _strides and _ndim that it mentions); at most " +
       std::to_string(kMaxBuffers) + " are allowed.");
}

void check_launch(const std::string& kernel, GridSize grid, GridSize threadgroup) {
  auto [gx, gy, gz] = grid;
  if (std::min({gx, gy, gz}) < 0) {
    fail("grid: Kernel " + in_quotes(kernel) + " was given " + as_text(grid) +
         "; the numbers of threads along x, y and z must not be negative.");
  }
  auto [tx, ty, tz] = threadgroup;
  if (std::min({tx, ty, tz}) < 1) {
    fail("threadgroup: Kernel " + in_quotes(kernel) + " was given " + as_text(threadgroup) +
         "; the numbers of threads along x, y and z must be at least 1.");
  }
  // Each factor is checked first, so that the product cannot overflow.
  bool fits = std::max({tx, ty, tz}) <= kMaxThreadsPerThreadgroup &&
              static_cast<int64_t>(tx) * ty * tz <= kMaxThreadsPerThreadgroup;
  if (!fits) {
    fail("threadgroup: Kernel " + in_quotes(kernel) + " was given " + as_text(threadgroup) +
         "; a threadgroup may have at most " + std::to_string(kMaxThreadsPerThreadgroup) +
         " threads in all.");
  }
}

KernelMathMode parse_compile_options(const std::map<std::string, std::string>& options) {
  KernelMathMode mode = KernelMathMode::Safe;
  for (const auto& [key, value] : options) {
    if (key != "math_mode") {
      fail("compile_options: unknown option " + in_quotes(key) + "; allowed is \"math_mode\".");
    }
    if (value == "safe") {
      mode = KernelMathMode::Safe;
    } else if (value == "relaxed") {
      mode = KernelMathMode::Relaxed;
    } else if (value == "fast") {
      mode = KernelMathMode::Fast;
    } else {
      fail("compile_options: math_mode is " + in_quotes(value) +
           "; allowed are \"safe\", \"relaxed\" and \"fast\".");
    }
  }
  return mode;
}

std::string_view kernel_type(Dtype dtype, const std::string& what) {
  switch (dtype.val()) {
    case Dtype::Val::bool_:
      return "bool";
    case Dtype::Val::uint8:
      return "uint8_t";
    case Dtype::Val::uint16:
      return "uint16_t";
    case Dtype::Val::uint32:
      return "uint32_t";
    case Dtype::Val::uint64:
      return "uint64_t";
    case Dtype::Val::int8:
      return "int8_t";
    case Dtype::Val::int16:
      return "int16_t";
    case Dtype::Val::int32:
      return "int32_t";
    case Dtype::Val::int64:
      return "int64_t";
    case Dtype::Val::float16:
      return "float16_t";
    case Dtype::Val::bfloat16:
      return "bfloat16_t";
    case Dtype::Val::float32:
      return "float";
    case Dtype::Val::complex64:
      return "complex64_t";
    case Dtype::Val::float64:
      break;
  }
  fail("float64 is no type of Metal kernels, but " + what + " has it; convert it with astype.");
}

Stream kernel_stream(StreamOrDevice s) { return to_stream(s); }

}  // namespace mlx::core::fast
