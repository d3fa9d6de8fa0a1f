#include "description.h"

#include <algorithm>
#include <stdexcept>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"

namespace {

using llvm::MDNode;

std::vector<const MDNode*> nodes(const llvm::Module& module, const char* name) {
  std::vector<const MDNode*> found;
  if (const llvm::NamedMDNode* list = module.getNamedMetadata(name)) {
    for (const MDNode* node : list->operands()) found.push_back(node);
  }
  return found;
}

std::string text(const MDNode& node, unsigned i) {
  return llvm::cast<llvm::MDString>(node.getOperand(i))->getString().str();
}

uint64_t number(const MDNode& node, unsigned i) {
  return llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(i))->getZExtValue();
}

uint32_t small(const MDNode& node, unsigned i) { return static_cast<uint32_t>(number(node, i)); }

metal::ScalarType constant_type(const std::string& name) {
  if (name == "bool") return metal::ScalarType::Bool;
  if (name == "int") return metal::ScalarType::Int;
  if (name == "float") return metal::ScalarType::Float;
  throw std::runtime_error("no type of a function constant: " + name);
}

metal::compiler::KernelArgument argument(const MDNode& node, size_t place) {
  metal::compiler::KernelArgument result;
  metal::ArgumentInfo& info = result.info;
  const std::string kind = text(node, 0);
  info.name = "argument" + std::to_string(place);
  if (kind == "buffer" || kind == "threadgroup") {
    info.kind =
        kind == "buffer" ? metal::ArgumentKind::Buffer : metal::ArgumentKind::ThreadgroupMemory;
    info.index = small(node, 1);
    info.address_space = static_cast<metal::AddressSpace>(number(node, 2));
    return result;
  }
  const auto builtin = metal::compiler::find_builtin(kind);
  if (!builtin) throw std::runtime_error("no kind of argument: " + kind);
  info.kind = metal::ArgumentKind::Attribute;
  info.attribute = kind;
  result.builtin = {*builtin, small(node, 2), small(node, 1)};
  result.bytes = small(node, 3);
  return result;
}

}  // namespace

Description describe(const llvm::Module& module) {
  Description result;
  const auto kernel = nodes(module, "kernel");
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (i == 0) {
      result.declaration.symbol = text(*kernel[0], 0);
      result.declaration.name = text(*kernel[0], 1);
    } else {
      result.declaration.arguments.push_back(argument(*kernel[i], i));
    }
  }
  result.function.name = result.declaration.name;
  for (const auto& one : result.declaration.arguments)
    result.function.arguments.push_back(one.info);
  for (const MDNode* node : nodes(module, "constants")) {
    const uint32_t index = small(*node, 1);
    const metal::ScalarType type = constant_type(text(*node, 2));
    metal::ConstantValue value{type, {}};
    const unsigned numbers = node->getNumOperands() - 3;  // more than one for a vector
    for (unsigned i = 0; i < numbers; ++i) value.bits[i] = number(*node, 3 + i);
    value.components = std::max(numbers, 1u);
    result.function.constants.push_back({text(*node, 0), index, type, value.components});
    if (numbers > 0) result.constants[index] = value;
  }
  for (const MDNode* node : nodes(module, "row_multiple")) result.row_multiple = small(*node, 0);
  for (const MDNode* node : nodes(module, "rows")) {
    result.row = small(*node, 0);
    result.rows = small(*node, 1);
  }
  for (const MDNode* node : nodes(module, "joined"))
    result.joined = {small(*node, 0), small(*node, 1), small(*node, 2)};
  for (const MDNode* node : nodes(module, "checks"))
    result.checks = metal::parse_checks(text(*node, 0), "checks");
  return result;
}
