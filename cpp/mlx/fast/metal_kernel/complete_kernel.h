// Complete kernels, whose signature the user wrote: arrays bind to [[buffer(n)]] by position, and
// every writable device pointer is an output.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mlx/fast/metal_kernel/metal_kernel.h"

namespace mlx::core::fast {

// The argument for a buffer; a scalar takes the type that the kernel declares.
using KernelArgument = std::variant<array, bool, int64_t, double>;

struct CompleteKernelCall {
  std::optional<GridSize> grid;
  std::optional<GridSize> threadgroup;
  std::vector<Shape> input_shapes;      // of the arguments in order, if given: only checked
  std::vector<Shape> output_shapes;     // if given: one for each output
  std::vector<Dtype> output_dtypes;     // if given: one for each output
  std::optional<InitValue> init_value;  // of outputs without an argument
  SourcePrinter print;
  StreamOrDevice stream;
};

class CompleteKernel {
 public:
  CompleteKernel(std::string name, std::string source, KernelOptions options);

  // Returns the outputs in the order of their buffers. The first call compiles the source to find
  // its arguments. Arrays for the outputs may be omitted if shapes and dtypes are given.
  // Thread-safe.
  std::vector<array> operator()(const std::vector<KernelArgument>& arguments,
                                const CompleteKernelCall& call) const;

 private:
  struct Compiled {
    std::shared_ptr<const KernelVariant> variant;
    std::vector<KernelBuffer> buffers;  // by index
    int outputs = 0;
  };
  const Compiled& compiled() const;
  void check_counts(const Compiled& kernel, const std::vector<KernelArgument>& arguments,
                    const CompleteKernelCall& call) const;
  std::pair<Shape, Dtype> output_of(const array& initial, size_t i, const std::string& name,
                                    const CompleteKernelCall& call) const;
  array bind(const KernelArgument& argument, const KernelBuffer& buffer) const;
  [[noreturn]] void fail(const std::string& message) const;

  KernelText text_;
  KernelOptions options_;
  mutable std::mutex mutex_;
  mutable std::optional<Compiled> compiled_;
};

}  // namespace mlx::core::fast
