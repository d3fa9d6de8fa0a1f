#include "metal/cpu/vectorizer/legalize/split_operations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/widen/blocks.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::IRBuilder;
using llvm::Value;

using Values = llvm::SmallVector<Value*>;

unsigned bits_of(const Value& vector) {
  return static_cast<unsigned>(vector.getType()->getPrimitiveSizeInBits().getFixedValue());
}

unsigned elements_of(const Value& vector) {
  return checked_cast<llvm::FixedVectorType>(vector.getType())->getNumElements();
}

bool can_be_split(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    const llvm::Intrinsic::ID function = call->getIntrinsicID();
    return llvm::isTriviallyVectorizable(function) &&
           llvm::all_of(call->args(), [](const Value* v) { return v->getType()->isVectorTy(); });
  }
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator>(instruction);
}

class OperationSplit {
 public:
  explicit OperationSplit(unsigned register_bits) : register_bits_(register_bits) {}

  void run(llvm::BasicBlock& block) {
    for (Instruction& instruction : llvm::make_early_inc_range(block))
      if (is_long(instruction) && can_be_split(instruction)) split(instruction);
    for (const llvm::WeakVH& whole : llvm::reverse(split_))
      if (whole) finish(*checked_cast<Instruction>(whole));
  }

 private:
  // All operands have the type of the result.
  bool is_long(const Instruction& instruction) const {
    return llvm::isa<llvm::FixedVectorType>(instruction.getType()) &&
           bits_of(instruction) > register_bits_ && bits_of(instruction) % register_bits_ == 0 &&
           llvm::all_of(instruction.operands(), [&](const Value* operand) {
             return operand->getType() == instruction.getType() ||
                    llvm::isa<llvm::Function>(operand);
           });
  }

  void split(Instruction& instruction) {
    IRBuilder<> b(&instruction);
    const unsigned count = bits_of(instruction) / register_bits_;
    auto* type = llvm::FixedVectorType::get(instruction.getType()->getScalarType(),
                                            elements_of(instruction) / count);
    Values made;
    for (unsigned i = 0; i < count; ++i) {
      Values operands;
      for (Value* operand : instruction.operands())
        if (!llvm::isa<llvm::Function>(operand)) operands.push_back(piece(b, operand, i, count));
      made.push_back(build(b, instruction, type, operands));
    }
    pieces_[&instruction] = std::move(made);
    split_.push_back(&instruction);
  }

  static Value* build(IRBuilder<>& b, const Instruction& whole, llvm::Type* type,
                      llvm::ArrayRef<Value*> operands) {
    Value* piece = nullptr;
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&whole)) {
      piece = b.CreateIntrinsic(type, call->getIntrinsicID(), operands);
    } else if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&whole)) {
      piece = b.CreateBinOp(operation->getOpcode(), operands[0], operands[1]);
    } else {
      piece = b.CreateUnOp(checked_cast<llvm::UnaryOperator>(&whole)->getOpcode(), operands[0]);
    }
    if (auto* made = llvm::dyn_cast<Instruction>(piece)) {
      made->copyIRFlags(&whole);
      made->copyMetadata(whole);
    }
    return piece;
  }

  Value* piece(IRBuilder<>& b, Value* vector, unsigned i, unsigned count) {
    if (const auto found = pieces_.find(vector); found != pieces_.end()) return found->second[i];
    const unsigned elements = elements_of(*vector) / count;
    return extract_subvector(b, vector, i * elements, elements);
  }

  // With it goes what only it used.
  void finish(Instruction& instruction) {
    if (!instruction.use_empty()) {
      IRBuilder<> b(&instruction);
      instruction.replaceAllUsesWith(llvm::concatenateVectors(b, pieces_[&instruction]));
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructions(&instruction);
  }

  unsigned register_bits_;
  llvm::DenseMap<const Value*, Values> pieces_;
  llvm::SmallVector<llvm::WeakVH> split_;
};

}  // namespace

void split_operations(llvm::BasicBlock& block, unsigned register_bits) {
  OperationSplit(register_bits).run(block);
}

}  // namespace metal::cpu
