#include "metal/cpu/vectorizer/memory/joined_indices.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// The number of which `row` is the quotient by the length of a row, and `column` the remainder, as
// an index; null if they are something else.
Value* joined(llvm::IRBuilder<>& b, Value* row, Value* column, uint64_t length) {
  using namespace llvm::PatternMatch;
  llvm::Type* wide = b.getInt64Ty();
  if (row->getType() != wide || column->getType() != wide) return nullptr;
  Value* quotient = row;
  Value* remainder = column;
  const bool is_extended = match(row, m_ZExtOrSExt(m_Value(quotient)));
  if (is_extended && !match(column, m_ZExtOrSExt(m_Value(remainder)))) return nullptr;
  // As a signed integer, too, the length is what it is.
  const unsigned bits = quotient->getType()->getIntegerBitWidth();
  if (length < 2 || llvm::Log2_64(length) + 1 >= bits) return nullptr;
  Value* number = nullptr;
  if (match(quotient, m_UDiv(m_Value(number), m_SpecificInt(length))) &&
      match(remainder, m_URem(m_Specific(number), m_SpecificInt(length)))) {
    // Neither of them has its highest bit set, so that both extensions are the same.
    return b.CreateZExt(number, wide);
  }
  if (match(quotient, m_SDiv(m_Value(number), m_SpecificInt(length))) &&
      match(remainder, m_SRem(m_Specific(number), m_SpecificInt(length))) &&
      (!is_extended || (llvm::isa<llvm::SExtInst>(row) && llvm::isa<llvm::SExtInst>(column))))
    return b.CreateSExt(number, wide);
  return nullptr;
}

bool join_last_indices(llvm::GetElementPtrInst& address) {
  const unsigned count = address.getNumIndices();
  if (count < 2 || address.getType()->isVectorTy()) return false;
  // A thread's own arrays are taken apart by their types.
  if (address.getPointerAddressSpace() == 0) return false;
  auto* element = address.getResultElementType();
  const auto row = std::next(llvm::gep_type_begin(address), count - 2);
  auto* type = llvm::dyn_cast<llvm::ArrayType>(row.getIndexedType());
  if (!type || row.getStructTypeOrNull() || type->getElementType() != element) return false;
  llvm::SmallVector<Value*> indices(address.indices());
  llvm::IRBuilder<> b(&address);
  Value* number = joined(b, indices[count - 2], indices[count - 1], type->getNumElements());
  if (!number) return false;
  for (unsigned i = count - 2; i < count; ++i)
    indices[i] = llvm::ConstantInt::get(indices[i]->getType(), 0);
  Value* first = b.CreateGEP(address.getSourceElementType(), address.getPointerOperand(), indices);
  address.replaceAllUsesWith(b.CreateGEP(element, first, number, address.getName()));
  address.eraseFromParent();
  return true;
}

}  // namespace

llvm::PreservedAnalyses JoinedIndicesPass::run(llvm::Function& body,
                                               llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(body))) {
    if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
      changed |= join_last_indices(*address);
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metal::cpu
