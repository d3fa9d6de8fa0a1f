#include "metal/cpu/codegen/code_generator.h"

#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/line_tables.h"
#include "metal/compiler/specialize.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/codegen/processor.h"
#include "metal/cpu/codegen/repetition.h"
#include "metal/cpu/codegen/row_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/passes.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
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

// The lanes whose floats fill two registers: that is enough independent work to hide latencies.
uint32_t natural_width(const llvm::TargetMachine& target) {
  const llvm::StringRef features = target.getTargetFeatureString();
  if (features.contains("+avx512f")) return 32;
  return features.contains("+avx2") ? 16 : 8;
}

std::string emit_code(llvm::Module& module, llvm::TargetMachine& target,
                      llvm::CodeGenFileType type) {
  using compiler::InstructionOrder;
  const bool is_ordered = module.getModuleFlag(kOrdered) != nullptr;
  return compiler::emit_file(module, target, type,
                             is_ordered ? InstructionOrder::AsIs : InstructionOrder::Scheduled);
}

using EmitCode = llvm::function_ref<void(llvm::Module&, llvm::TargetMachine&)>;

void generate_scalar(llvm::Module& module, KernelContext& kernel, ObjectCode& code) {
  code.granularity = kernel.threads_wait ? Granularity::Thread : Granularity::Group;
  code.has_barriers = kernel.threads_wait;
  // Scalar code that was asked for serves debugging, so it records its thread. Scalar code in place
  // of vector code should be fast.
  code.records_thread = !kernel.threads_wait && code.why_scalar.empty();
  kernel.records_thread = code.records_thread;
  run_scalar_passes(module, kernel);
}

void generate_wide(llvm::Module& module, const KernelContext& kernel, const Variant& variant,
                   ObjectCode& code) {
  code.granularity = Granularity::Group;
  Vectorized result = vectorize(*kernel.body, variant, has_threadgroup_barriers(module),
                                kernel.target, kernel.optimizer);
  code.why_scalar = std::move(result.why_not);
  code.general = std::move(result.general);
  code.prefetches = result.prefetches;
  code.interchanges = result.interchanges;
}

// Generates scalar code where there is no vector code.
ObjectCode generate(const FunctionInfo& function, const ConstantValues& constants,
                    const Variant& variant, EmitCode emit) {
  ObjectCode code;
  const Variant fallback{.checks = variant.checks, .screened = variant.screened};
  for (Variant attempt = variant;; attempt = fallback) {
    llvm::LLVMContext context;
    auto module = compiler::read_bitcode(function.bitcode, context);
    auto target = create_target();
    Optimizer optimizer(*target);
    const Cooperation cooperation = find_cooperation(*module);
    const bool scalar = attempt.layout == ThreadLayout::Scalar;
    KernelContext kernel{
        .function = function,
        .constants = constants,
        .optimizer = optimizer,
        .target = *target,
        .form = {.lanes_are_threads = !scalar && cooperation == Cooperation::SimdGroups,
                 .row_multiple = attempt.row_multiple,
                 .few_threads = attempt.few_threads,
                 .row = attempt.gangs_in_row * attempt.width,
                 .rows = attempt.rows,
                 .joined = attempt.joined},
        .threads_wait = cooperation != Cooperation::None || (attempt.checks & kCheckOrder) != 0,
        .checks = attempt.checks,
        .screened = attempt.screened};
    run_kernel_passes(*module, kernel);
    if (scalar) {
      generate_scalar(*module, kernel, code);
    } else {
      generate_wide(*module, kernel, attempt, code);
      if (!code.why_scalar.empty() && attempt.joined.any()) return {};
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
  traits.gangs.cooperation = find_cooperation(*module);
  const bool waits = has_threadgroup_barriers(*module);
  compiler::specialize(*module, function, constants);
  module->setDataLayout(target->createDataLayout());
  traits.static_threadgroup_memory = size_of_threadgroup_variables(*module);
  traits.gangs.natural_width = natural_width(*target);
  traits.repeats = may_repeat(*module);
  traits.jumps_along_rows = jumps_along_rows(*module);
  traits.column_dimension = column_dimension(*module);
  traits.depends_on_overlap = depends_on_overlap(*module);
  traits.may_jam = (rereads_threadgroup_memory(*module) || reads_tile_columns(*module) ||
                    waits_often(*module)) &&
                   !has_atomics(*module);
  if (traits.may_jam) {
    traits.gangs.widest_waiting = divided_row(*module);
    traits.gangs.group_dimension = groups_write_columns(*module) ? 1 : 0;
  }
  traits.may_jam_beside = traits.gangs.cooperation == Cooperation::SimdGroups && traits.repeats &&
                          !waits && !has_atomics(*module);
  traits.depends_on_threadgroup = depends_on_threadgroup(function);
  traits.element_accesses = find_element_accesses(*module, function);
  return traits;
}

ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants,
                         const Variant& variant) {
  std::string bytes;
  ObjectCode code = generate(
      function, constants, variant, [&](llvm::Module& module, llvm::TargetMachine& target) {
        compiler::complete_line_tables(module, compiler::LinesOf::User);  // for profiles
        bytes = emit_code(module, target, llvm::CodeGenFileType::ObjectFile);
      });
  code.bytes = std::move(bytes);
  return code;
}

std::string generate_general_code(std::string_view general) {
  std::string bytes;
  finish_general(general, [&](llvm::Module& module, llvm::TargetMachine& target) {
    compiler::complete_line_tables(module, compiler::LinesOf::User);
    bytes = emit_code(module, target, llvm::CodeGenFileType::ObjectFile);
  });
  return bytes;
}

std::string print_code(const FunctionInfo& function, std::string_view form,
                       const uint32_t (&threadgroup)[3]) {
  const ConstantValues zeros = compiler::zero_constants(function);
  const KernelTraits traits = find_traits(function, zeros);
  std::string text;
  auto print = [&](llvm::Module& module, llvm::TargetMachine& target) {
    compiler::complete_line_tables(module, compiler::LinesOf::Code);
    text += form == "asm" ? emit_code(module, target, llvm::CodeGenFileType::AssemblyFile)
                          : compiler::print_ir(module);
  };
  Variant variant = choose_variant(traits.gangs, threadgroup, threadgroup[0]);
  variant.separate_buffers = traits.depends_on_overlap;
  variant.few_threads = true;
  if (traits.may_jam) allow_jam(variant, threadgroup);
  if (traits.may_jam_beside) allow_gangs_at_once(variant, threadgroup);
  const ObjectCode code = generate(function, zeros, variant, print);
  if (!code.general.empty()) finish_general(code.general, print);
  return text;
}

}  // namespace metal::cpu
