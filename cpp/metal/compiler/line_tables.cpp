#include "metal/compiler/line_tables.h"

#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace metal::compiler {
namespace {

const llvm::DILocation* first_location(const llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (instruction.getDebugLoc() && instruction.getDebugLoc().getLine())
      return instruction.getDebugLoc();
  }
  return nullptr;
}

// The line where code was written counts, not the calls through which it was inlined.
void move_locations(llvm::Function& function, llvm::DIBuilder& builder) {
  llvm::DISubprogram* subprogram = function.getSubprogram();
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::DILocation* from = instruction.getDebugLoc();
    if (!from) {
      // LLVM requires a location for calls that may be inlined.
      if (llvm::isa<llvm::CallBase>(instruction))
        instruction.setDebugLoc(llvm::DILocation::get(function.getContext(), 0, 0, subprogram));
      continue;
    }
    llvm::DILexicalBlockFile* scope =
        builder.createLexicalBlockFile(subprogram, from->getFile(), /*Discriminator=*/0);
    instruction.setDebugLoc(
        llvm::DILocation::get(function.getContext(), from->getLine(), from->getColumn(), scope));
  }
}

}  // namespace

void complete_line_tables(llvm::Module& module) {
  if (module.debug_compile_units().empty()) return;
  llvm::DIBuilder builder(module, /*AllowUnresolved=*/true, *module.debug_compile_units_begin());
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getSubprogram()) continue;
    const llvm::DILocation* first = first_location(function);
    if (!first) continue;
    llvm::DISubprogram* subprogram = builder.createFunction(
        first->getFile(), function.getName(), "", first->getFile(), first->getLine(),
        builder.createSubroutineType(builder.getOrCreateTypeArray({})), first->getLine(),
        llvm::DINode::FlagArtificial, llvm::DISubprogram::SPFlagDefinition);
    function.setSubprogram(subprogram);
    move_locations(function, builder);
    builder.finalizeSubprogram(subprogram);
  }
}

}  // namespace metal::compiler
