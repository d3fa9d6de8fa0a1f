// CustomKernel: the primitive that runs a kernel that the user wrote.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "metal/checks.h"
#include "mlx/fast.h"
#include "mlx/fast/metal_kernel/hints.h"
#include "mlx/primitives/primitive.h"

namespace MTL {
class ComputePipelineState;
}

namespace mlx::core::fast {

// The argument for one [[buffer(n)]] of a kernel.
struct Slot {
  enum class Kind : char { Input, InputShape, InputStrides, InputNdim, Output };
  Kind kind;
  int array;   // index among the inputs or the outputs
  int buffer;  // n
};

enum class KernelMathMode : char { Safe, Relaxed, Fast };

// A kernel whose types and template values are known: the compiler's input, and the arguments.
struct KernelVariant {
  std::string name;  // the user's name for it, for messages
  std::string function;
  std::string source;
  KernelMathMode math_mode = KernelMathMode::Safe;
  std::vector<Slot> slots;
  std::optional<BodyScope> scope;  // of kernels given as a body
  // Set by the first evaluation on each kind of device, and held as long as the variant.
  mutable std::atomic<MTL::ComputePipelineState*> pipelines[2] = {};

  KernelVariant() = default;
  ~KernelVariant();
  KernelVariant(const KernelVariant&) = delete;
  KernelVariant& operator=(const KernelVariant&) = delete;
};

// One buffer argument of a kernel, as the compiler sees it.
struct KernelBuffer {
  int index;
  std::string name;
  bool is_output;            // a device pointer that is not const
  std::string element_type;  // "float", "uint", "half4", ...; empty where unknown
};

struct KernelDescription {
  std::string function;
  std::vector<KernelBuffer> buffers;  // ordered by index
  std::string refusal;                // why metal_kernel cannot launch it; empty if it can
};

// Compiles the source for the device; throws std::runtime_error with the compiler's diagnostics.
std::vector<KernelDescription> describe_kernels(const std::string& source, KernelMathMode math_mode,
                                                const Device& device);

// Returns the compiler's warnings about the user's text, with lines as in errors; empty if the
// kernel does not compile.
std::string warnings_of(const KernelVariant& variant);

// What Apple's compiler refuses in the user's text. Throws what the compiler does.
std::vector<::metal::CheckReport> source_reports(const KernelVariant& variant);

// Returns why threadgroups of this size run one thread at a time on the device; empty if they do
// not, or if the kernel does not compile. It generates code.
std::string why_scalar(const KernelVariant& variant, GridSize threadgroup, const Device& device);

// The values of outputs before the kernel runs.
using InitValue = std::variant<int64_t, double>;

struct KernelLaunch {
  std::shared_ptr<const KernelVariant> variant;
  GridSize grid;
  GridSize threadgroup;
  std::optional<InitValue> init_value;
  bool ensure_row_contiguous = true;
  // For each output: the input whose values it starts from, or -1.
  std::vector<int> initial_inputs;
  std::vector<Shape> output_shapes;
  uint32_t checks = 0;  // of metal/checks.h, besides those of the thread that evaluates it
};

class CustomKernel : public Primitive {
 public:
  CustomKernel(Stream stream, KernelLaunch launch)
      : Primitive(stream), launch_(std::move(launch)) {}

  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  bool encodes() const override { return true; }
  const char* name() const override { return "CustomKernel"; }
  bool is_equivalent(const Primitive& other) const override;
  std::vector<Shape> output_shapes(const std::vector<array>&) override {
    return launch_.output_shapes;
  }

  const KernelLaunch& launch() const { return launch_; }

 private:
  KernelLaunch launch_;
};

}  // namespace mlx::core::fast
