#include "metal/cpu/vectorizer/control/live_vectors.h"

#include <algorithm>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kStepsFromScalars = 3;  // of a vector that is cheap to compute again

// Whether it is computed from scalars, such as the numbers of the lanes.
bool is_of_scalars(const Value& value, unsigned steps = 0) {
  if (llvm::isa<llvm::Constant>(value) || llvm::getSplatValue(&value)) return true;
  const auto* instruction = llvm::dyn_cast<Instruction>(&value);
  return instruction && steps < kStepsFromScalars &&
         llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction) &&
         llvm::all_of(
             instruction->operands(),
             [&](const Value* operand) { return is_of_scalars(*operand, steps + 1); });
}

// A vector that is read from memory for one instruction needs no register before that.
bool takes_register(const Value& value) {
  const auto* instruction = llvm::dyn_cast<Instruction>(&value);
  if (!instruction || !value.getType()->isVectorTy() || is_of_scalars(value)) return false;
  return !llvm::isa<llvm::LoadInst>(instruction) || !instruction->hasOneUse() ||
         instruction->user_back()->getParent() != instruction->getParent();
}

// From what is live after the instruction to what is live before it. A phi uses its operands at the
// ends of other blocks.
void step_back(const Instruction& instruction, LiveVectors::Values& live) {
  live.erase(&instruction);
  if (llvm::isa<llvm::PHINode>(instruction)) return;
  for (const Value* operand : instruction.operands())
    if (takes_register(*operand)) live.insert(operand);
}

}  // namespace

VectorRegisters vector_registers(const llvm::Function& code,
                                 const llvm::TargetTransformInfo& costs) {
  auto* vector = llvm::FixedVectorType::get(llvm::Type::getFloatTy(code.getContext()), 4);
  const auto bits =
      costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  return {.count = costs.getNumberOfRegisters(costs.getRegisterClassForType(true, vector)),
          .bits = static_cast<unsigned>(bits)};
}

LiveVectors::LiveVectors(const llvm::Function& code) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock* block : llvm::post_order(&code)) {
      Values live = at_end(*block);
      for (const Instruction& instruction : llvm::reverse(*block)) step_back(instruction, live);
      Values& known = at_start_[block];
      changed |= live.size() != known.size();  // they only become more
      known = std::move(live);
    }
  }
}

unsigned LiveVectors::most(const Instruction& first, const Instruction& last,
                           llvm::function_ref<unsigned(const Value&)> size) const {
  Values live = at_end(*first.getParent());
  unsigned most = 0;
  bool counts = false;
  for (const Instruction& instruction : llvm::reverse(*first.getParent())) {
    counts |= &instruction == &last;
    unsigned total = 0;
    for (const Value* value : live) total += counts ? size(*value) : 0;
    most = std::max(most, total);
    if (&instruction == &first) break;
    step_back(instruction, live);
  }
  return most;
}

LiveVectors::Values LiveVectors::at_end(const BasicBlock& block) const {
  Values live;
  for (const BasicBlock* next : llvm::successors(&block)) {
    const auto found = at_start_.find(next);
    if (found != at_start_.end()) live.insert(found->second.begin(), found->second.end());
    for (const llvm::PHINode& phi : next->phis()) {
      const Value* value = phi.getIncomingValueForBlock(&block);
      if (takes_register(*value)) live.insert(value);
    }
  }
  return live;
}

}  // namespace metal::cpu
