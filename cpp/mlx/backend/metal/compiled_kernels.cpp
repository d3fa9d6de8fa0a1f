// Generates kernels for groups of elementwise operations.
#include "mlx/backend/metal/compiled_kernels.h"

#include "mlx/backend/metal/elementwise_headers.h"

namespace mlx::core {

namespace {

constexpr const char* kFunction = "compiled";

}  // namespace

CompiledKernels::CompiledKernels(const Trace& body, std::string label)
    : label_(std::move(label)), text_(body) {}

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
  for (size_t i = 0; i < text_.input_types.size(); ++i) {
    const std::string number = std::to_string(i);
    parameter("const device " + text_.input_types[i] + "*", "in" + number);
    loads += "  const " + text_.input_types[i] + " v" + number + " = in" + number + "[" +
             place(static_cast<InputLayout>(layouts[i])) + "];\n";
  }
  for (size_t i = 0; i < text_.output_types.size(); ++i) {
    const std::string number = std::to_string(i);
    parameter("device " + text_.output_types[i] + "*", "out" + number);
    stores += "  out" + number + "[o] = v" + std::to_string(text_.output_values[i]) + ";\n";
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
         ") {\n  const int64_t o = " + output_place + ";\n" + loads + text_.statements + stores +
         "}\n";
}

MTL::ComputePipelineState* CompiledKernels::find(const std::string& layouts, Device device) {
  return variants_.find(layouts, device,
                        [&] { return PipelineSource{source(layouts), kFunction, label_}; });
}

}  // namespace mlx::core
