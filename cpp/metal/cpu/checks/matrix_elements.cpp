#include "metal/cpu/checks/matrix_elements.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

// Values that bits are followed through, at most.
constexpr size_t kMaxFollowed = 64;

bool moves_bits(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::Or:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::PHI:
    case Instruction::Select:
      return true;
    default:
      return false;
  }
}

// The float that these bits come from or become; null if that is not known. All of 32 bits are
// float.
llvm::Type* float_type(Value& bits) {
  if (bits.getType()->isIntegerTy(32)) return llvm::Type::getFloatTy(bits.getContext());
  llvm::SmallSetVector<Value*, 16> followed;
  followed.insert(&bits);
  auto type_at = [](const Value& value) -> llvm::Type* {
    const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&value);
    if (!cast) return nullptr;
    for (llvm::Type* type : {cast->getSrcTy(), cast->getDestTy()}) {
      if (type->isHalfTy() || type->isBFloatTy()) return type;
    }
    return nullptr;
  };
  for (size_t i = 0; i < followed.size() && i < kMaxFollowed; ++i) {
    if (llvm::Type* type = type_at(*followed[i])) return type;
    if (llvm::isa<llvm::Constant>(followed[i])) continue;
    for (llvm::User* user : followed[i]->users()) {
      auto* instruction = llvm::dyn_cast<Instruction>(user);
      if (instruction && (moves_bits(*instruction) || type_at(*instruction)))
        followed.insert(instruction);
    }
    auto* instruction = llvm::dyn_cast<Instruction>(followed[i]);
    if (!instruction || !moves_bits(*instruction)) continue;
    for (Value* operand : instruction->operands()) followed.insert(operand);
  }
  return nullptr;
}

Instruction* typed_load(llvm::LoadInst& load) {
  llvm::Type* type = float_type(load);
  if (!type) return &load;
  llvm::IRBuilder<> b(&load);
  llvm::LoadInst* typed = b.CreateAlignedLoad(type, load.getPointerOperand(), load.getAlign());
  typed->copyMetadata(load);
  load.replaceAllUsesWith(b.CreateBitCast(typed, load.getType()));
  load.eraseFromParent();
  return typed;
}

void type_store(llvm::StoreInst& store) {
  Value* bits = store.getValueOperand();
  llvm::Type* type = float_type(*bits);
  if (!type) return;
  llvm::IRBuilder<> b(&store);
  store.setOperand(0, b.CreateBitCast(bits, type));
}

Value* bits(llvm::IRBuilder<>& b, Value* number, uint64_t mask, unsigned shift) {
  return b.CreateShl(b.CreateAnd(number, mask), shift);
}

}  // namespace

void type_matrix_elements(std::vector<compiler::MatrixAccess>& matrices) {
  for (compiler::MatrixAccess& matrix : matrices) {
    for (Instruction*& element : matrix.elements) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(element)) {
        element = typed_load(*load);
      } else {
        type_store(*checked_cast<llvm::StoreInst>(element));
      }
    }
  }
}

// The inverse of the two functions below, which are the standard library's __lane_of_matrix.
Value* lane_of_element(llvm::IRBuilder<>& b, Value* row, Value* column) {
  return b.CreateOr(b.CreateOr(bits(b, row, 4, 2), bits(b, column, 4, 1)),
                    b.CreateOr(bits(b, row, 3, 1), b.CreateLShr(b.CreateAnd(column, 2), 1)));
}

Value* row_of_lane(llvm::IRBuilder<>& b, Value* lane) {
  return b.CreateOr(b.CreateAnd(b.CreateLShr(lane, 2), 4), b.CreateAnd(b.CreateLShr(lane, 1), 3));
}

Value* column_of_lane(llvm::IRBuilder<>& b, Value* lane) {
  return b.CreateOr(b.CreateAnd(b.CreateLShr(lane, 1), 4), bits(b, lane, 1, 1));
}

}  // namespace metal::cpu
