// compile(): from source to a program of kernels in kernel form.
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/front_end.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/kernel_form.h"

namespace metal {
namespace compiler {
namespace {

FunctionInfo describe(const KernelDeclaration& kernel, const std::vector<FunctionConstantInfo>& constants) {
  FunctionInfo info;
  info.name = kernel.name;
  info.max_total_threads = kernel.max_total_threads;
  info.constants = constants;
  for (const KernelArgument& argument : kernel.arguments) info.arguments.push_back(argument.info);
  return info;
}

// Leaves only what `entry` needs of a lazily read module.
std::string extract(llvm::StringRef library, const std::string& entry) {
  llvm::LLVMContext context;
  auto module = llvm::cantFail(llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(library, "kernels"), context));
  llvm::cantFail(module->getFunction(entry)->materialize());
  std::vector<llvm::Function*> needed = {module->getFunction(entry)};
  for (size_t i = 0; i < needed.size(); ++i) {
    for (llvm::BasicBlock& block : *needed[i]) {
      for (llvm::Instruction& instruction : block) {
        auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || !callee->isMaterializable()) continue;
        llvm::cantFail(callee->materialize());
        needed.push_back(callee);
      }
    }
  }
  for (llvm::Function& function : *module) {
    if (function.isMaterializable()) {
      function.deleteBody();
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
  }
  remove_unused(*module);
  return write_bitcode(*module);
}

}  // namespace

std::shared_ptr<Program> compile_here(std::string_view source, const CompileOptions& options) {
  llvm::LLVMContext context;
  TranslationUnit unit = parse(source, options, context);
  to_kernel_form(unit);

  auto program = std::make_shared<Program>();
  program->options = options;
  program->warnings = unit.warnings;
  program->inputs = unit.inputs;
  const std::string library = write_bitcode(*unit.module);
  for (const KernelDeclaration& kernel : unit.kernels) {
    FunctionInfo info = describe(kernel, unit.constants);
    info.bitcode = unit.kernels.size() == 1 ? library : extract(library, kernel.name);
    program->functions.push_back(std::move(info));
  }
  return program;
}

}  // namespace compiler

std::shared_ptr<Program> compile(std::string_view source, const CompileOptions& options) {
  std::shared_ptr<Program> program;
  compiler::run_guarded([&] { program = compiler::compile_here(source, options); });
  return program;
}

void precompile(const std::string& header, const std::string& output) {
  compiler::run_guarded([&] { compiler::precompile_header(header, output); });
}

std::string emit(const FunctionInfo& function, std::string_view form) {
  if (form != "llvm") throw std::invalid_argument("--emit " + std::string(form) + ": expected llvm");
  llvm::LLVMContext context;
  return compiler::print_ir(*compiler::read_bitcode(function.bitcode, context));
}

}  // namespace metal
