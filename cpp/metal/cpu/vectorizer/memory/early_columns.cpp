#include "metal/cpu/vectorizer/memory/early_columns.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/columns.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

// Whether the pointer is the start of the threadgroup's memory.
bool is_threadgroup_start(const Value* pointer) {
  const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer);
  return cast && group_member(cast->getPointerOperand()) == int64_t{offsetof(Group, memory)};
}

// Whether the column's blocks can be read whatever its index is.
bool is_always_readable(const CallInst& column, llvm::ScalarEvolution& evolution) {
  const llvm::SCEV* address = evolution.getSCEV(first_of_column(column));
  const auto* start = llvm::dyn_cast<llvm::SCEVUnknown>(evolution.getPointerBase(address));
  if (!start || !is_threadgroup_start(start->getValue())) return false;
  const llvm::SCEV* offset = evolution.getMinusSCEV(address, start);
  if (llvm::isa<llvm::SCEVCouldNotCompute>(offset)) return false;
  const llvm::ConstantRange range = evolution.getSignedRange(offset);
  const auto margin = static_cast<int64_t>(kThreadgroupMargin);
  const int64_t before = margin - kBlockBytes, after = before - bytes_of_column(column);
  return range.getSignedMin().sge(-before) && range.getSignedMax().sle(after);
}

// The instructions of the column's block that compute its address, from the first on. Nothing if
// one of them cannot run elsewhere.
std::optional<llvm::SmallVector<Instruction*>> address_in_block(const CallInst& column) {
  llvm::SmallPtrSet<const Value*, 8> needed{first_of_column(column)};
  llvm::SmallVector<Instruction*> found;
  for (const Instruction* i = &column; i; i = i->getPrevNode()) {
    if (!needed.contains(i)) continue;
    if (llvm::isa<llvm::PHINode>(i) || !is_speculatable(*i)) return std::nullopt;
    found.push_back(const_cast<Instruction*>(i));
    needed.insert(i->op_begin(), i->op_end());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

bool is_written_before(const CallInst& column) {
  for (const Instruction* i = column.getPrevNode(); i; i = i->getPrevNode()) {
    if (i->mayWriteToMemory() && !are_separate(column, *i)) return true;
  }
  return false;
}

// Moves the column to the end of the block before, if that is the only one that leads here.
bool move_up(CallInst& column, llvm::ScalarEvolution& evolution) {
  llvm::BasicBlock* before = column.getParent()->getSinglePredecessor();
  if (!before || is_written_before(column)) return false;
  const auto address = address_in_block(column);
  if (!address) return false;
  // What is known of the sums must not depend on the guard.
  for (Instruction* instruction : *address) {
    forget_guards(*instruction);
    evolution.forgetValue(instruction);
  }
  if (!is_always_readable(column, evolution)) return false;
  for (Instruction* instruction : *address) instruction->moveBefore(before->getTerminator());
  column.moveBefore(before->getTerminator());
  return true;
}

}  // namespace

void read_columns_early(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses) {
  llvm::SmallVector<CallInst*> columns;
  for (Instruction& instruction : llvm::instructions(wide)) {
    if (is_column(instruction)) columns.push_back(checked_cast<CallInst>(&instruction));
  }
  if (columns.empty()) return;
  analyses.clear();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(wide);
  for (CallInst* column : columns) {
    while (move_up(*column, evolution)) {
    }
  }
  analyses.clear();
}

}  // namespace metal::cpu
