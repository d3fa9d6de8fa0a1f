#include "metal/cpu/vectorizer/legalize/select_extremes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

llvm::IntrinsicInst* as_extreme(Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  const bool is_extreme = call && (call->getIntrinsicID() == llvm::Intrinsic::maxnum ||
                                   call->getIntrinsicID() == llvm::Intrinsic::minnum);
  return is_extreme ? call : nullptr;
}

bool is_number(const llvm::Constant& constant) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(&constant)) return !number->isNaN();
  if (llvm::isa<llvm::ConstantAggregateZero, llvm::PoisonValue>(constant)) return true;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(constant.getType());
  for (unsigned i = 0; type && i < type->getNumElements(); ++i) {
    const llvm::Constant* element = constant.getAggregateElement(i);
    if (!element || !is_number(*element)) return false;
  }
  return type != nullptr;
}

// The values of a function that are known to be no NaN: all of which this can be assumed without
// contradiction, as each follows from others that were computed before.
class Numbers {
 public:
  explicit Numbers(llvm::Function& function) {
    for (Instruction& instruction : llvm::instructions(function)) {
      if (keeps_numbers(instruction)) numbers_.insert(&instruction);
    }
    size_t before = 0;
    do {
      before = numbers_.size();
      numbers_.remove_if([this](Instruction* value) { return !follows(*value); });
    } while (numbers_.size() != before);
  }

  bool contains(Value* value) const {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return is_number(*constant);
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    return instruction && numbers_.contains(instruction);
  }

 private:
  static bool keeps_numbers(Instruction& instruction) {
    return instruction.getType()->isFPOrFPVectorTy() &&
           (as_extreme(&instruction) ||
            llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::ShuffleVectorInst>(instruction));
  }

  bool follows(Instruction& value) const {
    auto is_in = [this](Value* operand) { return contains(operand); };
    if (auto* extreme = as_extreme(&value)) return llvm::any_of(extreme->args(), is_in);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&value))
      return llvm::all_of(phi->incoming_values(), is_in);
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&value))
      return is_in(select->getTrueValue()) && is_in(select->getFalseValue());
    return is_in(value.getOperand(0)) && is_in(value.getOperand(1));
  }

  llvm::SetVector<Instruction*> numbers_;
};

// Values that are computed from a loop's values of the last iteration by maxima or minima only.
bool is_carried(Value* value) {
  llvm::SmallPtrSet<Value*, 8> seen;
  llvm::SmallVector<Value*> work{value};
  while (!work.empty()) {
    Value* next = work.pop_back_val();
    if (llvm::isa<llvm::PHINode>(next)) return true;
    auto* extreme = as_extreme(next);
    if (extreme && seen.insert(next).second) work.append(extreme->arg_begin(), extreme->arg_end());
  }
  return false;
}

// What becomes of a maximum or minimum: the instruction gives `second` if one is NaN.
struct Form {
  llvm::IntrinsicInst* extreme;
  unsigned second;  // which operand
  bool is_number;   // this operand is never NaN
};

Form form_of(llvm::IntrinsicInst& extreme, const Numbers& numbers) {
  for (const unsigned i : {0u, 1u}) {
    if (numbers.contains(extreme.getArgOperand(i))) return {&extreme, i, true};
  }
  const bool first_is_late =
      is_carried(extreme.getArgOperand(0)) && !is_carried(extreme.getArgOperand(1));
  return {&extreme, first_is_late ? 0u : 1u, false};
}

void rewrite(const Form& form) {
  llvm::IntrinsicInst& extreme = *form.extreme;
  Value* first = extreme.getArgOperand(1 - form.second);
  Value* second = extreme.getArgOperand(form.second);
  if (!form.is_number) {
    extreme.setArgOperand(0, first);
    extreme.setArgOperand(1, second);
    return;
  }
  llvm::IRBuilder<> b(&extreme);
  const bool is_maximum = extreme.getIntrinsicID() == llvm::Intrinsic::maxnum;
  Value* wins = is_maximum ? b.CreateFCmpOGT(first, second) : b.CreateFCmpOLT(first, second);
  Value* result = b.CreateSelect(wins, first, second);
  result->takeName(&extreme);
  extreme.replaceAllUsesWith(result);
  extreme.eraseFromParent();
}

void select_extremes(llvm::Function& function) {
  const Numbers numbers(function);
  llvm::SmallVector<Form> forms;
  for (Instruction& instruction : llvm::instructions(function)) {
    llvm::IntrinsicInst* extreme = as_extreme(&instruction);
    if (extreme && extreme->getType()->getScalarType()->isFloatTy())
      forms.push_back(form_of(*extreme, numbers));
  }
  for (const Form& form : forms) rewrite(form);
}

}  // namespace

void select_extremes(llvm::Module& module, const llvm::TargetMachine& target) {
  if (!target.getTargetTriple().isX86()) return;
  for (llvm::Function& function : module) select_extremes(function);
}

}  // namespace metal::cpu
