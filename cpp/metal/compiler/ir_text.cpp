#include "metal/compiler/ir_text.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/compiler.h"

namespace metal::compiler {

std::string write_bitcode(const llvm::Module& module) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  return std::string(bytes.str());
}

std::unique_ptr<llvm::Module> read_bitcode(std::string_view bitcode, llvm::LLVMContext& context) {
  auto module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bitcode), "kernel"), context);
  if (!module) throw CompileError("damaged kernel: " + llvm::toString(module.takeError()));
  return std::move(*module);
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
