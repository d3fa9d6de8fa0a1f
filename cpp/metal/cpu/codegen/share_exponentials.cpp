#include "metal/cpu/codegen/share_exponentials.h"

#include <optional>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/hardware_math.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

// A function that is 1 at 0 and at -0, and NaN for NaN.
bool is_exponential(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<CallInst>(&instruction);
  const llvm::Function* function = call ? call->getCalledFunction() : nullptr;
  return function && compiler::is_hardware_math(*function) &&
         function->getName() != compiler::kHardwareLog2;
}

bool have_one_base(const CallInst& a, const CallInst& b) {
  return a.getCalledFunction() == b.getCalledFunction() &&
         (a.arg_size() < 2 || a.getArgOperand(1) == b.getArgOperand(1));
}

// Makes the value available before `place`. Whatever moves is computed wherever `place` is reached.
bool move_before(Value* value, Instruction& place) {
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  BasicBlock* block = place.getParent();
  if (!instruction || llvm::isa<llvm::PHINode>(instruction)) {
    return !instruction || instruction->getParent() == block ||
           instruction->getParent()->getSinglePredecessor() != block;
  }
  if (instruction->getParent() == block) {
    if (instruction->comesBefore(&place)) return true;
  } else if (instruction->getParent()->getSinglePredecessor() != block) {
    return true;  // it is in a block before this one
  }
  if (instruction == &place || llvm::isa<CallInst>(instruction) ||
      instruction->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(instruction))
    return false;
  for (Value* operand : instruction->operands()) {
    if (!move_before(operand, place)) return false;
  }
  instruction->moveBefore(&place);
  return true;
}

// The differences that make an exponent 0 or NaN if their sides are equal: factors keep this.
void find_differences(Value* exponent, llvm::SmallVectorImpl<Instruction*>& found) {
  auto* instruction = llvm::dyn_cast<Instruction>(exponent);
  if (!instruction) return;
  switch (instruction->getOpcode()) {
    case Instruction::FSub:
      found.push_back(instruction);
      break;
    case Instruction::FMul:
      find_differences(instruction->getOperand(1), found);
      [[fallthrough]];
    case Instruction::FDiv:
    case Instruction::FNeg:
    case Instruction::FPExt:
    case Instruction::FPTrunc:
      find_differences(instruction->getOperand(0), found);
      break;
    default:
      break;
  }
}

// Whether a value always is one of two others, or NaN if one of them is.
bool is_either(Value* value, const Value* a, const Value* b) {
  using namespace llvm::PatternMatch;
  Value *first, *second;
  const bool chooses =
      match(value, m_Select(m_Value(), m_Value(first), m_Value(second))) ||
      match(value, m_Intrinsic<llvm::Intrinsic::maxnum>(m_Value(first), m_Value(second))) ||
      match(value, m_Intrinsic<llvm::Intrinsic::minnum>(m_Value(first), m_Value(second)));
  return chooses && ((first == a && second == b) || (first == b && second == a));
}

// A value and what is chosen from it and another one.
struct Choice {
  Value* value;
  Value* chosen;
};

// Nothing unless one of the differences is 0 or NaN: the first one if `value` is equal to `chosen`,
// otherwise the second one.
std::optional<Choice> choice_between(const Instruction& first, const Instruction& second) {
  for (const unsigned i : {0u, 1u}) {
    for (const unsigned j : {0u, 1u}) {
      Value* chosen = first.getOperand(i);
      Value* value = first.getOperand(1 - i);
      if (second.getOperand(j) == chosen && is_either(chosen, value, second.getOperand(1 - j)))
        return Choice{value, chosen};
    }
  }
  return std::nullopt;
}

std::optional<Choice> choice_between(const CallInst& first, const CallInst& second) {
  llvm::SmallVector<Instruction*> of_first, of_second;
  find_differences(first.getArgOperand(0), of_first);
  find_differences(second.getArgOperand(0), of_second);
  for (const Instruction* a : of_first) {
    for (const Instruction* b : of_second) {
      if (const auto choice = choice_between(*a, *b)) return choice;
    }
  }
  return std::nullopt;
}

void replace_call(CallInst& call, Value* result) {
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

// The call for another exponent.
Value* exponential(llvm::IRBuilder<>& b, CallInst& like, Value* exponent) {
  auto* call = checked_cast<CallInst>(b.Insert(like.clone()));
  call->setArgOperand(0, exponent);
  return call;
}

// Of two exponentials in a block, one is that of 0 or NaN.
bool share_in_block(CallInst& first, CallInst& second) {
  if (!have_one_base(first, second) || first.getType() != first.getArgOperand(0)->getType())
    return false;
  const auto choice = choice_between(first, second);
  if (!choice || !move_before(second.getArgOperand(0), first)) return false;
  llvm::IRBuilder<> b(&first);
  Value* of_first = first.getArgOperand(0);
  Value* of_second = second.getArgOperand(0);
  Value* first_is_zero = b.CreateFCmpOEQ(choice->value, choice->chosen);
  Value* power = exponential(b, first, b.CreateSelect(first_is_zero, of_second, of_first));
  Value* one = llvm::ConstantFP::get(first.getType(), 1.0);
  Value* first_result = b.CreateSelect(first_is_zero, b.CreateFAdd(of_first, one), power);
  Value* second_result = b.CreateSelect(first_is_zero, power, b.CreateFAdd(of_second, one));
  replace_call(first, first_result);
  replace_call(second, second_result);
  return true;
}

llvm::SmallVector<CallInst*> exponentials_in(BasicBlock& block) {
  llvm::SmallVector<CallInst*> found;
  for (Instruction& instruction : block) {
    if (is_exponential(instruction)) found.push_back(checked_cast<CallInst>(&instruction));
  }
  return found;
}

void share_in_block(BasicBlock& block) {
  auto calls = exponentials_in(block);
  for (size_t i = 0; i < calls.size(); ++i) {
    for (size_t j = i + 1; calls[i] && j < calls.size(); ++j) {
      if (calls[j] && share_in_block(*calls[i], *calls[j])) calls[i] = calls[j] = nullptr;
    }
  }
}

// Every thread that comes to the branch runs one of the two sides.
void share_between_sides(llvm::BranchInst& branch) {
  BasicBlock* sides[2] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  if (sides[0]->getSinglePredecessor() != branch.getParent() ||
      sides[1]->getSinglePredecessor() != branch.getParent())
    return;
  const auto then = exponentials_in(*sides[0]), otherwise = exponentials_in(*sides[1]);
  for (const auto& [first, second] : llvm::zip(then, otherwise)) {
    Value* of_first = first->getArgOperand(0);
    Value* of_second = second->getArgOperand(0);
    if (!have_one_base(*first, *second) || !move_before(of_first, branch) ||
        !move_before(of_second, branch))
      continue;
    llvm::IRBuilder<> b(&branch);
    Value* power =
        exponential(b, *first, b.CreateSelect(branch.getCondition(), of_first, of_second));
    replace_call(*first, power);
    replace_call(*second, power);
  }
}

}  // namespace

void share_exponentials(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (BasicBlock& block : function) {
      share_in_block(block);
      auto* branch = llvm::dyn_cast_or_null<llvm::BranchInst>(block.getTerminator());
      if (branch && branch->isConditional()) share_between_sides(*branch);
    }
  }
}

}  // namespace metal::cpu
