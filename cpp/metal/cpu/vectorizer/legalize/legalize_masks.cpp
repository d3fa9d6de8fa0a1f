#include "metal/cpu/vectorizer/legalize/legalize_masks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/ConstantFold.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::IRBuilder;
using llvm::Value;

bool is_mask(const llvm::Type* type) {
  return type->isVectorTy() && type->getScalarType()->isIntegerTy(1);
}

class MaskWidening {
 public:
  explicit MaskWidening(llvm::Function& function) : function_(function) {}

  void run() {
    llvm::SmallVector<Instruction*> masks;
    for (Instruction& instruction : llvm::instructions(function_)) {
      if (is_mask(instruction.getType()) && combines(instruction)) masks.push_back(&instruction);
    }
    for (Instruction* mask : masks) make_phi(*mask);
    for (Instruction* mask : masks) integers(mask);
    for (Instruction* mask : masks) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(mask)) fill_phi(*phi);
    }
    for (Instruction* mask : masks) replace(*mask);
    for (Instruction* mask : masks) mask->dropAllReferences();
    for (Instruction* mask : masks) mask->eraseFromParent();
  }

 private:
  // Whether the instruction is rewritten. Other bits, such as results of comparisons, are extended
  // instead.
  static bool combines(const Instruction& instruction) {
    return llvm::isa<llvm::PHINode, llvm::SelectInst>(instruction) ||
           instruction.getOpcode() == Instruction::And ||
           instruction.getOpcode() == Instruction::Or ||
           instruction.getOpcode() == Instruction::Xor;
  }

  static llvm::Type* integer_type(const Value* mask) {
    return mask->getType()->getWithNewType(llvm::Type::getInt32Ty(mask->getContext()));
  }

  void make_phi(Instruction& mask) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(&mask);
    if (!phi) return;
    IRBuilder<> b(phi);
    integers_[phi] = b.CreatePHI(integer_type(phi), phi->getNumIncomingValues(), phi->getName());
  }

  void fill_phi(llvm::PHINode& phi) {
    auto* wide = checked_cast<llvm::PHINode>(integers_[&phi]);
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
      wide->addIncoming(integers(phi.getIncomingValue(i)), phi.getIncomingBlock(i));
  }

  Value* integers(Value* mask) {
    const auto found = integers_.find(mask);
    if (found != integers_.end()) return found->second;
    Value* made = make_integers(mask);
    integers_[mask] = made;
    return made;
  }

  Value* make_integers(Value* mask) {
    llvm::Type* type = integer_type(mask);
    auto* instruction = llvm::dyn_cast<Instruction>(mask);
    if (!instruction) {
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(mask)) {
        return llvm::ConstantFoldCastInstruction(Instruction::SExt, constant, type);
      }
      IRBuilder<> b(&*function_.getEntryBlock().getFirstInsertionPt());
      return b.CreateSExt(mask, type);
    }
    if (!combines(*instruction)) {
      IRBuilder<> b(instruction->getContext());
      b.SetInsertPoint(instruction->getParent(), std::next(instruction->getIterator()));
      // A splat is extended as a scalar and then splatted.
      if (Value* shared = llvm::getSplatValue(instruction)) {
        return b.CreateVectorSplat(checked_cast<llvm::FixedVectorType>(type)->getNumElements(),
                                   b.CreateSExt(shared, b.getInt32Ty()));
      }
      return b.CreateSExt(instruction, type);
    }
    IRBuilder<> b(instruction);
    switch (instruction->getOpcode()) {
      case Instruction::And:
        return b.CreateAnd(integers(instruction->getOperand(0)),
                           integers(instruction->getOperand(1)));
      case Instruction::Or:
        return b.CreateOr(integers(instruction->getOperand(0)),
                          integers(instruction->getOperand(1)));
      case Instruction::Xor:
        return b.CreateXor(integers(instruction->getOperand(0)),
                           integers(instruction->getOperand(1)));
      default:
        break;
    }
    auto* select = checked_cast<llvm::SelectInst>(instruction);
    Value* yes = integers(select->getTrueValue());
    Value* no = integers(select->getFalseValue());
    if (!is_mask(select->getCondition()->getType()))
      return b.CreateSelect(select->getCondition(), yes, no);
    Value* condition = integers(select->getCondition());
    // Undefined bits that the condition does not select must not make the result undefined.
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(no); constant && constant->isNullValue())
      return b.CreateAnd(condition, b.CreateFreeze(yes));
    return b.CreateSelect(b.CreateICmpSLT(condition, llvm::Constant::getNullValue(type)), yes, no);
  }

  void replace(Instruction& mask) {
    Value* wide = integers_[&mask];
    for (llvm::Use& use : llvm::make_early_inc_range(mask.uses())) {
      auto* user = checked_cast<Instruction>(use.getUser());
      if (is_mask(user->getType()) && combines(*user)) continue;
      IRBuilder<> b(user);
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user))
        b.SetInsertPoint(phi->getIncomingBlock(use)->getTerminator());
      use.set(b.CreateICmpSLT(wide, llvm::Constant::getNullValue(wide->getType())));
    }
  }

  llvm::Function& function_;
  llvm::DenseMap<Value*, Value*> integers_;
};

}  // namespace

void legalize_masks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) MaskWidening(function).run();
  }
}

}  // namespace metal::cpu
