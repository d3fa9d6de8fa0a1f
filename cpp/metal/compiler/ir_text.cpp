#include "metal/compiler/ir_text.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/verify.h"

namespace metal::compiler {

void abandon_on_errors(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo* info, void*) {
    if (info->getSeverity() != llvm::DS_Error) return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    abandon(std::make_exception_ptr(CompileError("error: " + text + "\n")));
  });
}

std::string write_bitcode(const llvm::Module& module) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return std::string(bytes.str());
}

std::unique_ptr<llvm::Module> read_bitcode(std::string_view bitcode, llvm::LLVMContext& context) {
  abandon_on_errors(context);
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bitcode), "kernel"), context);
  if (!module) throw CompileError("damaged kernel: " + llvm::toString(module.takeError()));
  return std::move(*module);
}

namespace {

bool has_long_blocks(const llvm::Module& module) {
  constexpr size_t kLong = 256;  // instructions
  return llvm::any_of(module, [](const llvm::Function& function) {
    return llvm::any_of(function, [](const llvm::BasicBlock& b) { return b.size() > kLong; });
  });
}

// The target's own pipeline without two passes. Scheduling after register allocation takes time
// quadratic in the length of a block, and processors reorder instructions themselves.
// Shrink-wrapped prologues would overwrite r11 on x86 when they probe large frames, although r11
// may hold a value there.
void add_code_generator(llvm::legacy::PassManager& passes, llvm::LLVMTargetMachine& target,
                        const llvm::Module& module, llvm::raw_pwrite_stream& stream,
                        llvm::CodeGenFileType type, InstructionOrder order) {
  auto* machine_code = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* steps = target.createPassConfig(passes);
  steps->setDisableVerify(!verifies_ir());
  steps->disablePass(&llvm::ShrinkWrapID);
  if (has_long_blocks(module)) steps->disablePass(&llvm::PostRASchedulerID);
  if (order == InstructionOrder::AsIs) steps->disablePass(&llvm::MachineSchedulerID);
  passes.add(steps);
  passes.add(machine_code);
  bool failed = steps->addISelPasses();
  if (!failed) {
    steps->addMachinePasses();
    steps->setInitialized();
    failed =
        target.addAsmPrinter(passes, stream, nullptr, type, machine_code->getMMI().getContext());
  }
  if (failed) throw CompileError("the code generator emits no such file");
  passes.add(llvm::createFreeMachineFunctionPass());
}

}  // namespace

std::string emit_file(llvm::Module& module, llvm::TargetMachine& target, llvm::CodeGenFileType type,
                      InstructionOrder order) {
  verify(module, "all before code is generated");
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  add_code_generator(passes, static_cast<llvm::LLVMTargetMachine&>(target), module, stream, type,
                     order);
  passes.run(module);
  return std::string(bytes.str());
}

std::string print_ir(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

void remove_unused(llvm::Module& module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module.globals())) {
      variable.removeDeadConstantUsers();
      if (!variable.use_empty() || variable.hasAppendingLinkage()) continue;
      variable.eraseFromParent();
      changed = true;
    }
    for (llvm::Function& function : llvm::make_early_inc_range(module)) {
      const bool kept = !function.isDeclaration() && function.hasExternalLinkage();
      if (kept || !function.use_empty()) continue;
      function.eraseFromParent();
      changed = true;
    }
  }
}

}  // namespace metal::compiler
