#include "metal/cpu/vectorizer/matrix/simdgroup_matrix.h"

#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/multiply_accumulate.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// What an element of a result was taken from.
Value* origin(Value* value) {
  while (llvm::isa<llvm::BitCastInst, llvm::TruncInst>(value) ||
         (llvm::isa<llvm::BinaryOperator>(value) &&
          checked_cast<llvm::BinaryOperator>(value)->getOpcode() == llvm::Instruction::LShr))
    value = checked_cast<llvm::Instruction>(value)->getOperand(0);
  return value;
}

}  // namespace

void widen_multiply_accumulate(Widener& w, llvm::CallInst& call) {
  llvm::IRBuilder<>& b = w.builder();
  llvm::Constant* zero = llvm::ConstantFP::getZero(b.getFloatTy());
  llvm::SmallVector<Value*> arguments;
  for (unsigned i = 0; i < 6; ++i) {
    Value* operand = call.getArgOperand(i);
    Value* lanes = w.where_active(w.vector(operand), zero);
    const bool overwrites = i >= 4;
    arguments.push_back(overwrites ? w.take_from_memory(lanes, w.is_renewed(origin(operand), call))
                                   : w.in_memory(lanes));
  }
  llvm::Type* words = w.wide_type(b.getInt32Ty());
  const llvm::SmallVector<llvm::Type*> pointers(arguments.size(), b.getPtrTy());
  llvm::Function* code =
      w.helper(kMultiplyAccumulate, llvm::FunctionType::get(b.getVoidTy(), pointers, false),
               [&](llvm::Function& code) {
                 for (llvm::Argument& argument : code.args())
                   argument.addAttr(llvm::Attribute::NoCapture);
                 write_multiply_accumulate(code, w.costs());
               });
  b.CreateCall(code, arguments);
  Value* parts[2];
  for (unsigned element = 0; element < 2; ++element) {
    parts[element] = b.CreateLoad(words, arguments[4 + element]);
    w.set_in_memory(parts[element], arguments[4 + element]);
  }
  llvm::Type* longs = w.wide_type(b.getInt64Ty());
  w.set_halves(&call, parts[0], parts[1]);
  w.set_vector(&call, b.CreateOr(b.CreateZExt(parts[0], longs),
                                 b.CreateShl(b.CreateZExt(parts[1], longs), 32)));
}

}  // namespace metal::cpu
