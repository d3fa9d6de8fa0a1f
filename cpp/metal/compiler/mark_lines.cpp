#include "metal/compiler/mark_lines.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/line_tables.h"

namespace metal::compiler {
namespace {

bool leads_on(const llvm::Instruction& instruction) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
  return branch && branch->isUnconditional();
}

// The first instruction of each line. Where blocks end, and functions return, there often is just
// a brace, unless it is all that the block does: `break;`.
std::vector<llvm::Instruction*> find_lines(llvm::BasicBlock& block) {
  std::set<std::pair<const llvm::DIFile*, unsigned>> seen;
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& instruction : block) {
    const llvm::DILocation* place = instruction.getDebugLoc();
    if (!place || user_location(place) != place) continue;
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::ReturnInst>(instruction) ||
        instruction.isLifetimeStartOrEnd() || (leads_on(instruction) && !found.empty()))
      continue;
    if (seen.insert({place->getFile(), place->getLine()}).second) found.push_back(&instruction);
  }
  return found;
}

}  // namespace

void mark_lines(llvm::Module& module) {
  llvm::Function* mark = llvm::Intrinsic::getDeclaration(&module, llvm::Intrinsic::sideeffect);
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction* instruction : find_lines(block)) {
        llvm::IRBuilder<> b(instruction);
        b.CreateCall(mark);  // at the same place of the source
      }
    }
  }
}

bool is_line_mark(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::sideeffect;
}

}  // namespace metal::compiler
