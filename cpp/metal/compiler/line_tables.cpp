#include "metal/compiler/line_tables.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "metal/programs/resources.h"

namespace metal::compiler {
namespace {

bool is_ours(const llvm::DILocation& location) {
  llvm::SmallString<256> path(location.getFilename());
  if (!llvm::sys::path::is_absolute(path)) {
    path = location.getDirectory();
    llvm::sys::path::append(path, location.getFilename());
  }
  return path.str().starts_with(stdlib_directory());
}

const llvm::DILocation* first_location(const llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (instruction.getDebugLoc() && instruction.getDebugLoc().getLine())
      return instruction.getDebugLoc();
  }
  return nullptr;
}

// Those of the function that a loop was in before.
void drop_loop_locations(llvm::Instruction& instruction) {
  llvm::updateLoopMetadataDebugLocations(instruction, [](llvm::Metadata* part) {
    return llvm::isa<llvm::DILocation>(part) ? nullptr : part;
  });
}

void move_locations(llvm::Function& function, llvm::DIBuilder& builder, LinesOf lines) {
  llvm::DISubprogram* subprogram = function.getSubprogram();
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    drop_loop_locations(instruction);
    const llvm::DILocation* from = instruction.getDebugLoc();
    if (lines == LinesOf::User) from = user_location(from);
    if (!from) {
      // LLVM requires a location for calls that may be inlined.
      if (llvm::isa<llvm::CallBase>(instruction))
        instruction.setDebugLoc(llvm::DILocation::get(function.getContext(), 0, 0, subprogram));
      else
        instruction.setDebugLoc({});
      continue;
    }
    llvm::DILexicalBlockFile* scope =
        builder.createLexicalBlockFile(subprogram, from->getFile(), /*Discriminator=*/0);
    instruction.setDebugLoc(
        llvm::DILocation::get(function.getContext(), from->getLine(), from->getColumn(), scope));
  }
}

}  // namespace

const llvm::DILocation* user_location(const llvm::DILocation* location) {
  while (location && (location->getLine() == 0 || is_ours(*location)))
    location = location->getInlinedAt();
  return location;
}

void complete_line_tables(llvm::Module& module, LinesOf lines) {
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
    move_locations(function, builder, lines);
    builder.finalizeSubprogram(subprogram);
  }
}

}  // namespace metal::compiler
