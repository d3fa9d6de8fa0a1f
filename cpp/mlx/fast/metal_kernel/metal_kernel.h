// Kernels given as a body: their definition and their calls.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mlx/bounded_cache.h"
#include "mlx/fast/metal_kernel/custom_kernel.h"
#include "mlx/fast/metal_kernel/signature.h"

namespace mlx::core::fast {

struct KernelOptions {
  std::string header;
  bool ensure_row_contiguous = true;
  bool atomic_outputs = false;
  KernelMathMode math_mode = KernelMathMode::Safe;
  uint32_t checks = 0;  // of metal/checks.h
};

using SourcePrinter = std::function<void(const std::string& text)>;

struct KernelCall {
  std::vector<Shape> output_shapes;
  std::vector<Dtype> output_dtypes;
  GridSize grid;
  GridSize threadgroup;
  TemplateArgs template_args;
  std::optional<InitValue> init_value;
  SourcePrinter print;  // called with the source that is compiled, if any
  StreamOrDevice stream;
};

class MetalKernel {
 public:
  // Throws std::invalid_argument for invalid names of parameters.
  MetalKernel(std::string name, std::vector<std::string> input_names,
              std::vector<std::string> output_names, std::string source, KernelOptions options);

  // Returns the outputs, not yet computed. Thread-safe.
  std::vector<array> operator()(const std::vector<array>& inputs, const KernelCall& call) const;

 private:
  void check(const std::vector<array>& inputs, const KernelCall& call) const;
  std::shared_ptr<const KernelVariant> variant_for(const std::vector<array>& inputs,
                                                   const KernelCall& call) const;
  std::shared_ptr<const KernelVariant> make_variant(const std::vector<array>& inputs,
                                                    const KernelCall& call) const;

  KernelText text_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  KernelOptions options_;
  IdentifierSet mentioned_;

  mutable std::mutex mutex_;
  static constexpr size_t kMaxVariants = 64;
  mutable BoundedCache<std::string, std::shared_ptr<const KernelVariant>> variants_{kMaxVariants};
};

// Prints the compiled source under a heading, and why the kernel does not become vector code, if
// so.
void print_kernel(const KernelLaunch& launch, const Device& device, const SourcePrinter& print);

}  // namespace mlx::core::fast
