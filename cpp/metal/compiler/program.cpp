#include "metal/compiler/program.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/front_end.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/specialize.h"

namespace metal::compiler {
namespace {

FunctionInfo describe(const KernelDeclaration& kernel,
                      const std::vector<FunctionConstantInfo>& constants) {
  FunctionInfo info;
  info.name = kernel.name;
  info.max_total_threads = kernel.max_total_threads;
  info.constants = constants;
  for (const KernelArgument& argument : kernel.arguments) info.arguments.push_back(argument.info);
  return info;
}

void add_callees(llvm::Function& function, std::vector<llvm::Function*>& needed) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && callee->isMaterializable()) needed.push_back(callee);
    }
  }
}

void check(llvm::Error error) {
  if (error) internal_error(llvm::toString(std::move(error)));
}

template <typename T>
T unwrap(llvm::Expected<T> result) {
  check(result.takeError());
  return std::move(*result);
}

// The part of `library` that `kernels` use. The module is read lazily.
std::string extract(llvm::StringRef library, llvm::ArrayRef<FunctionInfo> kernels) {
  llvm::LLVMContext context;
  auto module =
      unwrap(llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(library, "kernels"), context));
  std::vector<llvm::Function*> needed = initializers(*module);
  for (const FunctionInfo& kernel : kernels) needed.push_back(module->getFunction(kernel.name));
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]->isMaterializable()) continue;
    check(needed[i]->materialize());
    add_callees(*needed[i], needed);
  }
  for (llvm::Function& function : *module) {
    if (!function.isMaterializable()) continue;
    function.deleteBody();
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  remove_unused(*module);
  return write_bitcode(*module);
}

// Gives each kernel its part of `library`. To read a module takes time for every function in it,
// used or not, so a library of many kernels is first split into a few parts, and these likewise.
void split(std::string library, llvm::MutableArrayRef<FunctionInfo> kernels) {
  if (kernels.size() == 1) {
    kernels.front().bitcode = std::move(library);
    return;
  }
  constexpr size_t kParts = 8;
  const size_t size = llvm::divideCeil(kernels.size(), kParts);
  for (; !kernels.empty(); kernels = kernels.drop_front(std::min(size, kernels.size()))) {
    const auto part = kernels.take_front(size);
    split(extract(library, part), part);
  }
}

}  // namespace

std::shared_ptr<Program> compile_here(std::string_view source, const CompileOptions& options) {
  llvm::LLVMContext context;
  abandon_on_errors(context);
  TranslationUnit unit = parse(source, options, context);
  to_kernel_form(unit);
  for (FunctionConstantInfo& constant : unit.constants)
    constant.required = needs_value(*unit.module, constant);

  auto program = std::make_shared<Program>();
  program->options = options;
  program->warnings = unit.warnings;
  program->inputs = unit.inputs;
  program->apple_reports = unit.apple_reports;
  for (const KernelDeclaration& kernel : unit.kernels) {
    program->functions.push_back(describe(kernel, unit.constants));
    program->functions.back().covered = options.coverage;
  }
  if (!program->functions.empty()) split(write_bitcode(*unit.module), program->functions);
  return program;
}

}  // namespace metal::compiler
