#include "metal/cpu/code_generator.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/specialize.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {
namespace {

constexpr const char* kAbiVersion =
    "1";  // of abi.h and of everything that generates code; part of every cache key

const std::string& processor_features() {
  static const std::string features = [] {
    llvm::SubtargetFeatures list;
    for (const auto& [name, enabled] : llvm::sys::getHostCPUFeatures())
      list.AddFeature(name, enabled);
    return list.getString();
  }();
  return features;
}

std::unique_ptr<llvm::TargetMachine> create_target() {
  std::string error;
  const std::string triple = llvm::sys::getProcessTriple();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw CompileError("no code generator for " + triple + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), processor_features(), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

// The pipeline's analyses and what runs on them.
class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& target) : builder_(&target, tuning()) {
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  // Values of function constants reach the constants computed from them.
  void fold_constants(llvm::Module& module) {
    if (!module.getGlobalVariable("llvm.global_ctors")) return;
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalOptPass());
    passes.run(module, modules_);
  }

  void optimize(llvm::Module& module) {
    builder_.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules_);
  }

 private:
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = options.SLPVectorization = options.LoopInterleaving = true;
    return options;
  }

  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
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
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    function.addFnAttr("probe-stack", "inline-asm");  // no frame steps over a stack's guard page
    function.removeFnAttr("min-legal-vector-width");
    function.removeFnAttr("tune-cpu");
  }
}

ObjectCode lower(llvm::Module& module, const FunctionInfo& function,
                 const ConstantValues& constants, llvm::TargetMachine& target) {
  Optimizer optimizer(target);
  compiler::specialize(module, function, constants);
  optimizer.fold_constants(module);
  retarget(module, target);
  llvm::Function* body = make_body(module, function);
  expand_bfloat(module);

  ObjectCode code;
  code.static_threadgroup_memory = lower_threadgroup_variables(*body);
  code.has_barriers = has_convergent_calls(module);
  if (code.has_barriers) {
    // Threads wait at places in the optimised code: the runtime must see the loops that are left.
    code.granularity = Granularity::Thread;
    llvm::Function* entry = make_thread_entry(*body);
    optimizer.optimize(module);
    lower_convergent_calls(*entry);
  } else {
    make_group_entry(*body);
    optimizer.optimize(module);
  }
  return code;
}

std::string emit_file(llvm::Module& module, llvm::TargetMachine& target,
                      llvm::CodeGenFileType type) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, type))
    throw CompileError("the code generator emits no such file");
  passes.run(module);
  return std::string(bytes.str());
}

}  // namespace

ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants, bool) {
  llvm::LLVMContext context;
  auto module = compiler::read_bitcode(function.bitcode, context);
  auto target = create_target();
  ObjectCode code = lower(*module, function, constants, *target);
  code.bytes = emit_file(*module, *target, llvm::CodeGenFileType::ObjectFile);
  return code;
}

std::string print_code(const FunctionInfo& function, std::string_view form) {
  llvm::LLVMContext context;
  auto module = compiler::read_bitcode(function.bitcode, context);
  auto target = create_target();
  ConstantValues zeros;
  for (const FunctionConstantInfo& constant : function.constants)
    zeros[constant.index] = {constant.type, 0};
  lower(*module, function, zeros, *target);
  if (form == "asm") return emit_file(*module, *target, llvm::CodeGenFileType::AssemblyFile);
  return compiler::print_ir(*module);
}

std::string target_description() {
  return std::string(kAbiVersion) + " " + LLVM_VERSION_STRING + " " +
         llvm::sys::getHostCPUName().str() + " " + processor_features();
}

}  // namespace metal::cpu
