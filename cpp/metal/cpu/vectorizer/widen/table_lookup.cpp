#include "metal/cpu/vectorizer/widen/table_lookup.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace metal::cpu {

using llvm::Value;

TableLookup::TableLookup(const llvm::Function& code) {
  const llvm::StringRef features = code.getFnAttribute("target-features").getValueAsString();
  if (features.contains("+avx512f")) {
    lanes_ = 16;
  } else if (features.contains("+avx2")) {
    lanes_ = 8;
  }
}

Value* TableLookup::find(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> tables, Value* index) const {
  // Shuffles ignore the upper bits of indices.
  if (tables.size() == 1) {
    return b.CreateIntrinsic(
        lanes_ == 16 ? llvm::Intrinsic::x86_avx512_permvar_si_512 : llvm::Intrinsic::x86_avx2_permd,
        {}, {tables[0], index});
  }
  if (tables.size() == 2 && lanes_ == 16) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                             {tables[0], index, tables[1]});
  }
  const size_t half = tables.size() / 2;
  Value* low = find(b, tables.take_front(half), index);
  Value* high = find(b, tables.drop_front(half), index);
  Value* bit = b.CreateAnd(index, llvm::ConstantInt::get(index->getType(), half * lanes_));
  return b.CreateSelect(b.CreateIsNotNull(bit), high, low);
}

}  // namespace metal::cpu
