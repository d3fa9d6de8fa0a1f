#include "metal/cuda/code_generator.h"

#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/specialize.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/passes.h"
#include "metal/cuda/target.h"

namespace metal::cuda {
namespace {

uint32_t size_of_variables(const llvm::Module& module) {
  uint64_t size = 0;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() != kShared || variable.isDeclaration()) continue;
    size = llvm::alignTo(size, variable.getAlign().valueOrOne());
    size += module.getDataLayout().getTypeAllocSize(variable.getValueType());
  }
  return static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
}

std::unique_ptr<llvm::Module> read_specialized(const FunctionInfo& function,
                                               const ConstantValues& constants,
                                               llvm::LLVMContext& context) {
  auto module = compiler::read_bitcode(function.bitcode, context);
  compiler::specialize(*module, function, constants);
  return module;
}

KernelInterface lower(llvm::Module& module, const FunctionInfo& function,
                      llvm::TargetMachine& target, const LaunchForm& form) {
  PassContext context(function, target, form);
  run_passes(module, context);
  context.interface.static_threadgroup_memory = size_of_variables(module);
  return std::move(context.interface);
}

}  // namespace

PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                     std::string_view architecture, const LaunchForm& form) {
  auto target = create_target(architecture);
  llvm::LLVMContext context;
  auto module = read_specialized(function, constants, context);
  PtxCode code;
  code.interface = lower(*module, function, *target, form);
  code.text = compiler::emit_file(*module, *target, llvm::CodeGenFileType::AssemblyFile);
  return code;
}

std::string print_ptx(const std::vector<FunctionInfo>& functions, std::string_view architecture) {
  auto target = create_target(architecture);
  llvm::LLVMContext context;
  llvm::Module all("kernels", context);
  llvm::Linker linker(all);
  for (const FunctionInfo& function : functions) {
    auto module = read_specialized(function, compiler::zero_constants(function), context);
    lower(*module, function, *target, {});
    linker.linkInModule(std::move(module));
  }
  return compiler::emit_file(all, *target, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace metal::cuda
