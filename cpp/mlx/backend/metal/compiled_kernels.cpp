// Generates kernels for groups of elementwise operations. Every operation rounds as its own kernel
// does, so that fused and unfused results are equal to the bit.
#include "mlx/backend/metal/compiled_kernels.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mlx/backend/metal/background_pipelines.h"
#include "mlx/backend/metal/elementwise_headers.h"
#include "mlx/fast/metal_kernel/arguments.h"
#include "mlx/primitives/binary.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/shape.h"
#include "mlx/primitives/ternary.h"
#include "mlx/primitives/unary.h"

namespace mlx::core {

namespace {

constexpr const char* kFunction = "compiled";

std::string msl_type(Dtype dtype) {
  return std::string(fast::kernel_type(dtype, "a fused operation"));
}

// An expression with the constant's bits.
std::string literal(const array& constant) {
  uint64_t bits = 0;
  std::memcpy(&bits, constant.data<char>(), constant.itemsize());
  const std::string type = msl_type(constant.dtype());
  auto cast = [](const std::string& to, const std::string& from, uint64_t value) {
    return "as_type<" + to + ">(" + from + "(" + std::to_string(value) + "ul))";
  };
  if (constant.dtype() == bool_) return bits ? "true" : "false";
  if (constant.dtype() == complex64) {
    return "complex64_t(" + cast("float", "uint32_t", bits & 0xffffffff) + ", " +
           cast("float", "uint32_t", bits >> 32) + ")";
  }
  return cast(type, "uint" + std::to_string(8 * constant.itemsize()) + "_t", bits);
}

std::string computed(const std::string& value, Dtype dtype) {
  return "static_cast<compute_t<" + msl_type(dtype) + ">>(" + value + ")";
}

// The operation, applied to the values of these names.
std::string expression(const TraceNode& node, const std::vector<std::string>& values) {
  const Primitive* primitive = node.primitive.get();
  if (dynamic_cast<const Copy*>(primitive) || dynamic_cast<const StopGradient*>(primitive) ||
      dynamic_cast<const Broadcast*>(primitive) || dynamic_cast<const AsType*>(primitive)) {
    return values[0];
  }
  if (dynamic_cast<const Select*>(primitive)) {
    return values[0] + " ? " + values[1] + " : " + values[2];
  }
  const Dtype dtype = node.inputs[0].dtype();
  std::string name = dynamic_cast<const Elementwise&>(*primitive).functor();
  std::string arguments;
  for (const auto& value : values) {
    arguments += (arguments.empty() ? "" : ", ") + computed(value, dtype);
  }
  return name + "::apply(" + arguments + ")";
}

}  // namespace

CompiledKernels::CompiledKernels(const Trace& body, std::string label) : label_(std::move(label)) {
  std::unordered_map<std::uintptr_t, int> numbers;
  int next = 0;
  for (const auto& in : body.inputs) {
    numbers.emplace(in.id(), next++);
    input_types_.push_back(msl_type(in.dtype()));
  }
  for (const auto& node : body.nodes) {
    std::vector<std::string> values;
    for (const auto& in : node.inputs) {
      auto number = numbers.find(in.id());
      values.push_back(number == numbers.end() ? literal(in)
                                               : "v" + std::to_string(number->second));
    }
    const std::string type = msl_type(node.outputs[0].dtype());
    const std::string name = "v" + std::to_string(next);
    statements_ += "  const " + type + " " + name + " = convert<" + type + ">(" +
                   expression(node, values) + ");\n";
    numbers.emplace(node.outputs[0].id(), next++);
  }
  for (const auto& out : body.outputs) {
    output_types_.push_back(msl_type(out.dtype()));
    output_values_.push_back(numbers.at(out.id()));
  }
}

std::string CompiledKernels::source(const std::string& layouts) const {
  const bool line = layouts.find_first_not_of("sl") == std::string::npos;
  std::string parameters;
  std::string loads;
  std::string stores;
  int buffer = 0;
  int operand = 0;
  auto parameter = [&](const std::string& type, const std::string& name) {
    parameters += type + " " + name + " [[buffer(" + std::to_string(buffer++) + ")]],\n    ";
  };
  auto place = [&](InputLayout layout) -> std::string {
    if (layout == InputLayout::Scalar) return "0";
    if (layout == InputLayout::Line) return "i";
    const std::string of = "(strides, " + std::to_string(operand++) + ", pos)";
    if (layout == InputLayout::Row) return "row_offset" + of + " + pos.x";
    return (layout == InputLayout::Same ? "row_offset" : "strided_offset") + of;
  };
  for (size_t i = 0; i < input_types_.size(); ++i) {
    const std::string number = std::to_string(i);
    parameter("const device " + input_types_[i] + "*", "in" + number);
    loads += "  const " + input_types_[i] + " v" + number + " = in" + number + "[" +
             place(static_cast<InputLayout>(layouts[i])) + "];\n";
  }
  for (size_t i = 0; i < output_types_.size(); ++i) {
    const std::string number = std::to_string(i);
    parameter("device " + output_types_[i] + "*", "out" + number);
    stores += "  out" + number + "[o] = v" + std::to_string(output_values_[i]) + ";\n";
  }
  std::string positions;
  std::string output_place;
  if (line) {
    positions = "uint i [[thread_position_in_grid]]";
    output_place = "i";
  } else {
    parameter("constant const Strides4<" + std::to_string(operand) + ">&", "strides");
    positions = "uint3 pos [[thread_position_in_grid]],\n    uint3 grid [[threads_per_grid]]";
    output_place = "dense_offset(pos, grid)";
  }
  return std::string("#include \"mlx/backend/metal/kernels/utils.h\"\n") + kElementwiseHeaders +
         "\n[[kernel]] void " + kFunction + "(\n    " + parameters + positions +
         ") {\n  const int64_t o = " + output_place + ";\n" + loads + statements_ + stores + "}\n";
}

MTL::ComputePipelineState* CompiledKernels::find(const std::string& layouts, Device device) {
  std::shared_ptr<PendingPipeline> pipeline;
  {
    std::lock_guard lock(mutex_);
    auto& slot = pipelines_[layouts + (device == Device::gpu ? 'G' : 'C')];
    if (!slot) slot = start_pipeline({source(layouts), kFunction, label_}, device);
    pipeline = slot;
  }
  if (auto* ready = pipeline->get()) return ready;
  const char* background = std::getenv("MLX_COMPILE_BACKGROUND");
  const bool wait = background && std::string_view(background) == "0";
  return wait ? pipeline->wait() : nullptr;
}

}  // namespace mlx::core
