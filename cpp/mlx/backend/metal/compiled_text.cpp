// Writes elementwise operations as statements.
#include "mlx/backend/metal/compiled_text.h"

#include <cstring>
#include <unordered_map>

#include "mlx/fast/metal_kernel/arguments.h"
#include "mlx/primitives/binary.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/shape.h"
#include "mlx/primitives/ternary.h"
#include "mlx/primitives/unary.h"

namespace mlx::core {

std::string msl_type(Dtype dtype) {
  return std::string(fast::kernel_type(dtype, "a fused operation"));
}

namespace {

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

CompiledText::CompiledText(const Trace& body) {
  std::unordered_map<std::uintptr_t, int> numbers;
  int next = 0;
  for (const auto& in : body.inputs) {
    numbers.emplace(in.id(), next++);
    input_types.push_back(msl_type(in.dtype()));
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
    statements += "  const " + type + " " + name + " = convert<" + type + ">(" +
                  expression(node, values) + ");\n";
    numbers.emplace(node.outputs[0].id(), next++);
  }
  for (const auto& out : body.outputs) {
    output_types.push_back(msl_type(out.dtype()));
    output_values.push_back(numbers.at(out.id()));
  }
}

}  // namespace mlx::core
