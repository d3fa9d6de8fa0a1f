#include "metal/cpu/vectorizer/matrix/sum_memory.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"

namespace metal::cpu {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

constexpr unsigned kSumArgument = 2;  // of a product: the matrix that it is added to

bool may_have_place(const Value* value) {
  return llvm::isa<llvm::PHINode>(value)
             ? is_matrix(value->getType()) && value->getType()->getScalarType()->isFloatTy()
             : matrix_operation(const_cast<Value*>(value), kMatrixMultiply) != nullptr;
}

}  // namespace

SumMemory::SumMemory(llvm::Function& wide, llvm::ArrayRef<llvm::CallInst*> products) : wide_(wide) {
  find_groups(products);
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (!group->isLeader()) continue;
    const llvm::SmallVector<Value*> values(groups_.member_begin(group), groups_.member_end());
    if (may_share(Members(values.begin(), values.end()))) {
      allocate_place(values);
      continue;
    }
    for (Value* value : values) {
      if (!llvm::isa<llvm::PHINode>(value)) allocate_place(value);
    }
  }
}

void SumMemory::find_groups(llvm::ArrayRef<llvm::CallInst*> products) {
  llvm::SmallVector<Value*> work(products.begin(), products.end());
  llvm::SmallPtrSet<Value*, 16> seen(products.begin(), products.end());
  while (!work.empty()) {
    Value* value = work.pop_back_val();
    groups_.insert(value);
    auto join = [&](Value* other) {
      if (!may_have_place(other)) return;
      groups_.unionSets(value, other);
      if (seen.insert(other).second) work.push_back(other);
    };
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) {
      for (Value* incoming : phi->incoming_values()) join(incoming);
    } else {
      join(checked_cast<llvm::CallInst>(value)->getArgOperand(kSumArgument));
    }
  }
}

// Follows which of the values the place holds at the end of each block. The function itself stands
// for an unknown value.
bool SumMemory::may_share(const Members& members) const {
  Blocks ends;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&wide_);
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock* block : order) {
      Value* start = at_start(*block, members, ends);
      Value* end = start ? go_through(*block, start, members) : nullptr;
      if (end == ends.lookup(block)) continue;
      ends[block] = end;
      changed = true;
    }
  }
  for (const BasicBlock* block : order) {
    if (!suits(*block, at_start(*block, members, ends), members)) return false;
  }
  return true;
}

// The value that the place holds at the start of a block; null if no predecessor has been visited.
Value* SumMemory::at_start(const BasicBlock& block, const Members& members,
                           const Blocks& ends) const {
  for (const llvm::PHINode& phi : block.phis()) {
    Value* value = const_cast<llvm::PHINode*>(&phi);
    if (members.contains(value)) return value;
  }
  if (&block == &wide_.getEntryBlock()) return &wide_;
  Value* held = nullptr;
  for (const BasicBlock* before : llvm::predecessors(&block)) {
    Value* end = ends.lookup(before);
    if (!end || end == held) continue;
    held = held ? &wide_ : end;
  }
  return held;
}

Value* SumMemory::go_through(const BasicBlock& block, Value* held, const Members& members) const {
  for (const Instruction& instruction : block) {
    auto* value = const_cast<Instruction*>(&instruction);
    if (members.contains(value) && !llvm::isa<llvm::PHINode>(value)) held = value;
  }
  return held;
}

// Whether the place holds each value where it is used.
bool SumMemory::suits(const BasicBlock& block, Value* held, const Members& members) const {
  const auto phis = llvm::count_if(block.phis(), [&](const llvm::PHINode& phi) {
    return members.contains(const_cast<llvm::PHINode*>(&phi));
  });
  if (phis > 1) return false;
  for (const Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode>(instruction)) continue;
    for (Value* operand : instruction.operands()) {
      if (members.contains(operand) && operand != held) return false;
    }
    auto* value = const_cast<Instruction*>(&instruction);
    if (members.contains(value)) held = value;
  }
  return suits_successors(block, held, members);
}

// A phi's incoming value that is not in the place is stored there at the end of the block. This is
// only right if the block has no other successor.
bool SumMemory::suits_successors(const BasicBlock& block, const Value* held,
                                 const Members& members) const {
  for (const BasicBlock* next : llvm::successors(&block)) {
    for (const llvm::PHINode& phi : next->phis()) {
      Value* incoming = phi.getIncomingValueForBlock(&block);
      if (members.contains(incoming)) {
        if (incoming != held) return false;
      } else if (members.contains(const_cast<llvm::PHINode*>(&phi)) &&
                 !block.getSingleSuccessor()) {
        return false;
      }
    }
  }
  return true;
}

void SumMemory::allocate_place(llvm::ArrayRef<Value*> values) {
  BasicBlock& entry = wide_.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* place = b.CreateAlloca(matrix_type(b.getFloatTy()), nullptr, "sum");
  place->setAlignment(llvm::Align(64));
  for (const Value* value : values) places_[value] = place;
}

}  // namespace metal::cpu
