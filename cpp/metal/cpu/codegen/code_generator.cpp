#include "metal/cpu/codegen/code_generator.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "metal/compiler/code_version.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/line_tables.h"
#include "metal/compiler/specialize.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/codegen/processor.h"
#include "metal/cpu/codegen/repetition.h"
#include "metal/cpu/vectorizer/vectorize.h"

namespace metal::cpu {
namespace {

std::unique_ptr<llvm::TargetMachine> create_target() {
  std::string error;
  const std::string triple = llvm::sys::getProcessTriple();
  const Processor& processor = target_processor();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw CompileError("no code generator for " + triple + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, processor.name, processor.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

bool is_fused(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  return call && call->getIntrinsicID() == llvm::Intrinsic::fma;
}

// Without such instructions a fast multiply-add becomes a product and a sum. Both must stay what
// they are: code rounds by adding a large number in one and subtracting it again.
void keep_fused(llvm::Instruction& instruction) {
  if (!llvm::isa<llvm::FPMathOperator>(instruction)) return;
  if (is_fused(&instruction) || llvm::any_of(instruction.operands(), is_fused))
    instruction.setHasAllowReassoc(false);
}

void retarget(llvm::Module& module, const llvm::TargetMachine& target) {
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  const bool has_fma =
      !target.getTargetTriple().isX86() || target.getTargetFeatureString().contains("+fma");
  for (llvm::Function& function : module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
      if (!has_fma) keep_fused(instruction);
    }
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    function.addFnAttr("probe-stack", "inline-asm");  // no frame steps over a stack's guard page
    function.removeFnAttr("min-legal-vector-width");
    function.removeFnAttr("tune-cpu");
  }
}

// Lanes that fill two registers with floats: enough independent work to hide latencies.
uint32_t natural_width(const llvm::TargetMachine& target) {
  const llvm::StringRef features = target.getTargetFeatureString();
  if (features.contains("+avx512f")) return 32;
  return features.contains("+avx2") ? 16 : 8;
}

struct Lowering {
  llvm::Module& module;
  llvm::TargetMachine& target;
  Optimizer optimizer{target};

  // The kernel's body, ready for either kind of code.
  llvm::Function* prepare(const FunctionInfo& function, const ConstantValues& constants,
                          bool lanes_are_threads, uint32_t row_multiple) {
    compiler::specialize(module, function, constants);
    retarget(module, target);
    compiler::verify(module, "specialize");
    llvm::Function* body = make_body(module, function, lanes_are_threads, row_multiple);
    compiler::verify(module, "make_body");
    expand_bfloat(module);
    compiler::verify(module, "expand_bfloat");
    return body;
  }

  void lower_scalar(llvm::Function& body, Cooperation cooperation, ObjectCode& code) {
    if (cooperation == Cooperation::None) {
      code.granularity = Granularity::Group;
      mark_constant_loads(body);
      make_group_entry(body);
      compiler::verify(module, "make_group_entry");
      optimizer.optimize_scalar(module);
      return;
    }
    // Threads wait at places in the optimised code: the runtime must see the loops that are left.
    code.granularity = Granularity::Thread;
    code.has_barriers = true;
    llvm::Function* entry = make_thread_entry(body);
    compiler::verify(module, "make_thread_entry");
    optimizer.optimize_scalar(module);
    lower_convergent_calls(*entry);
  }

  void lower_wide(llvm::Function& body, const Variant& variant, ObjectCode& code) {
    code.granularity = Granularity::Group;
    Vectorized result =
        vectorize(body, variant, has_threadgroup_barriers(module), target, optimizer);
    code.why_scalar = std::move(result.why_not);
    code.general = std::move(result.general);
    code.prefetches = result.prefetches;
  }
};

using EmitCode = llvm::function_ref<void(llvm::Module&, llvm::TargetMachine&)>;

// Scalar code takes over where there is no vector code.
ObjectCode generate(const FunctionInfo& function, const ConstantValues& constants,
                    const Variant& variant, EmitCode emit) {
  ObjectCode code;
  for (Variant attempt = variant;; attempt = Variant{}) {
    llvm::LLVMContext context;
    auto module = compiler::read_bitcode(function.bitcode, context);
    auto target = create_target();
    Lowering lowering{*module, *target};
    const Cooperation cooperation = find_cooperation(*module);
    const bool scalar = attempt.layout == ThreadLayout::Scalar;
    llvm::Function* body =
        lowering.prepare(function, constants, !scalar && cooperation == Cooperation::SimdGroups,
                         attempt.row_multiple);
    lower_threadgroup_variables(*body);
    compiler::verify(*module, "lower_threadgroup_variables");
    if (scalar) {
      lowering.lower_scalar(*body, cooperation, code);
    } else {
      lowering.lower_wide(*body, attempt, code);
      if (!code.why_scalar.empty()) continue;
    }
    emit(*module, *target);
    return code;
  }
}

void finish_general(std::string_view general, EmitCode emit) {
  llvm::LLVMContext context;
  auto module = compiler::read_bitcode(general, context);
  auto target = create_target();
  Optimizer optimizer(*target);
  finish_vector_code(*module, *target, optimizer);
  emit(*module, *target);
}

}  // namespace

KernelTraits find_traits(const FunctionInfo& function, const ConstantValues& constants) {
  llvm::LLVMContext context;
  auto module = compiler::read_bitcode(function.bitcode, context);
  auto target = create_target();
  KernelTraits traits;
  traits.cooperation = find_cooperation(*module);
  compiler::specialize(*module, function, constants);
  module->setDataLayout(target->createDataLayout());
  traits.static_threadgroup_memory = size_of_threadgroup_variables(*module);
  traits.natural_width = natural_width(*target);
  traits.repeats = may_repeat(*module);
  return traits;
}

ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants,
                         const Variant& variant) {
  std::string bytes;
  ObjectCode code = generate(
      function, constants, variant, [&](llvm::Module& module, llvm::TargetMachine& target) {
        bytes = compiler::emit_file(module, target, llvm::CodeGenFileType::ObjectFile);
      });
  code.bytes = std::move(bytes);
  return code;
}

std::string generate_general_code(std::string_view general) {
  std::string bytes;
  finish_general(general, [&](llvm::Module& module, llvm::TargetMachine& target) {
    bytes = compiler::emit_file(module, target, llvm::CodeGenFileType::ObjectFile);
  });
  return bytes;
}

std::string print_code(const FunctionInfo& function, std::string_view form,
                       const uint32_t (&threadgroup)[3]) {
  const ConstantValues zeros = compiler::zero_constants(function);
  const KernelTraits traits = find_traits(function, zeros);
  std::string text;
  auto print = [&](llvm::Module& module, llvm::TargetMachine& target) {
    compiler::complete_line_tables(module);
    text += form == "asm" ? compiler::emit_file(module, target, llvm::CodeGenFileType::AssemblyFile)
                          : compiler::print_ir(module);
  };
  const ObjectCode code = generate(
      function, zeros,
      choose_variant(traits.cooperation, threadgroup, threadgroup[0], traits.natural_width), print);
  if (!code.general.empty()) finish_general(code.general, print);
  return text;
}

std::string target_description() {
  const Processor& processor = target_processor();
  return std::string(compiler::code_version()) + " " + LLVM_VERSION_STRING + " " + processor.name +
         " " + processor.features + (compiler::verifies_ir() ? " verified" : "");
}

}  // namespace metal::cpu
