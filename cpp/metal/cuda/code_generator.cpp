#include "metal/cuda/code_generator.h"

#include <mutex>

#include "llvm-c/Target.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "metal/compiler/analyses.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/specialize.h"
#include "metal/compiler/verify.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

struct Architecture {
  std::string_view name;
  const char* ptx;  // the first version of PTX that has it
};
constexpr Architecture kArchitectures[] = {{"sm_80", "+ptx70"},
                                           {"sm_86", "+ptx71"},
                                           {"sm_87", "+ptx74"},
                                           {"sm_89", "+ptx78"},
                                           {"sm_90", "+ptx78"}};

const Architecture& find_architecture(std::string_view name) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  throw std::invalid_argument("architecture '" + std::string(name) + "' is none of " + known);
}

std::unique_ptr<llvm::TargetMachine> create_target(const Architecture& architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) throw CompileError("no code generator for NVIDIA GPUs: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, architecture.name, architecture.ptx, options,
                                  llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

// LLVM's own passes around ours.
class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& target) : analyses_(&target) {}

  void optimize(llvm::Module& module) {
    analyses_.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
        .run(module, analyses_.modules);
  }

  void tidy(llvm::Module& module) {
    llvm::FunctionPassManager simplify;
    simplify.addPass(llvm::EarlyCSEPass());
    simplify.addPass(llvm::InstCombinePass());
    simplify.addPass(llvm::SimplifyCFGPass());
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
    passes.addPass(llvm::GlobalDCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
    analyses_.functions.clear();
    passes.run(module, analyses_.modules);
  }

  llvm::FunctionAnalysisManager& functions() { return analyses_.functions; }

 private:
  compiler::Analyses analyses_;
};

void retarget(llvm::Module& module, const llvm::TargetMachine& target) {
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
    }
    for (const char* name : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(name);
  }
}

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

}  // namespace

KernelInterface lower_to_nvptx(llvm::Module& module, const FunctionInfo& function,
                               llvm::TargetMachine& target) {
  KernelInterface interface;
  Optimizer optimizer(target);
  retarget(module, target);
  map_address_spaces(module);
  compiler::verify(module, "map_address_spaces");
  llvm::Function* kernel = make_entry(module, function, interface);
  compiler::verify(module, "make_entry");
  order_atomics(module);
  compiler::verify(module, "order_atomics");
  optimizer.optimize(module);
  lower_lane_operations(*kernel, optimizer.functions());
  compiler::verify(module, "lower_lane_operations");
  optimizer.tidy(module);
  interface.static_threadgroup_memory = size_of_variables(module);
  return interface;
}

PtxCode generate_ptx(const FunctionInfo& function, const ConstantValues& constants,
                     std::string_view architecture) {
  auto target = create_target(find_architecture(architecture));
  llvm::LLVMContext context;
  auto module = read_specialized(function, constants, context);
  PtxCode code;
  code.interface = lower_to_nvptx(*module, function, *target);
  code.text = compiler::emit_file(*module, *target, llvm::CodeGenFileType::AssemblyFile);
  return code;
}

std::string print_ptx(const std::vector<FunctionInfo>& functions, std::string_view architecture) {
  auto target = create_target(find_architecture(architecture));
  llvm::LLVMContext context;
  llvm::Module all("kernels", context);
  llvm::Linker linker(all);
  for (const FunctionInfo& function : functions) {
    auto module = read_specialized(function, compiler::zero_constants(function), context);
    lower_to_nvptx(*module, function, *target);
    linker.linkInModule(std::move(module));
  }
  return compiler::emit_file(all, *target, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace metal::cuda
