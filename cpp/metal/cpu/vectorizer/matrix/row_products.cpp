#include "metal/cpu/vectorizer/matrix/row_products.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr unsigned kSize = 8;  // rows and columns of a matrix

llvm::FixedVectorType* floats(llvm::LLVMContext& context, unsigned count) {
  return llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), count);
}

// A sum is a row of C, or of two C beside each other: an element of A, which processors repeat
// while they load it, times a row of B, or of two. Hence nothing is shuffled.
//
// A function, because a scheduler that sees more products at once than registers can hold the sums
// of keeps none of them there.
class RowMultiplier {
 public:
  RowMultiplier(llvm::Function& code, const RowProducts& products)
      : b_(llvm::BasicBlock::Create(code.getContext(), "entry", &code)),
        code_(code),
        products_(products) {}

  void write() {
    for (unsigned row = 0; row < products_.rows * kSize; ++row)
      sums_.push_back(load_rows(c_of(row), RowProducts::kDensePitch, row % kSize));
    for (unsigned time = 0; time < products_.times; ++time) {
      for (unsigned k = 0; k < kSize; ++k)
        add_products(time * (products_.rows + products_.columns), k);
    }
    for (unsigned row = 0; row < sums_.size(); ++row) store_rows(row);
    b_.CreateRetVoid();
  }

 private:
  // Of column `k` of the A from argument `first` on, with row `k` of the B behind them.
  void add_products(unsigned first, unsigned k) {
    Value* of_b = load_rows(first + products_.rows, products_.b_pitch, k);
    for (unsigned row = 0; row < sums_.size(); ++row) {
      Value* of_a = b_.CreateVectorSplat(products_.columns * kSize, element_of_a(first, row, k));
      sums_[row] = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, sums_[row]->getType(),
                                      {of_a, of_b, sums_[row]});
    }
    for (Value*& sum : sums_) hold(sum);
  }

  // Here the sum is in a register. A scheduler that may move loads ahead of earlier products runs
  // out of registers for sums. The constraint names any of the 32 of x86: see has_row_products().
  void hold(Value*& sum) {
    auto* type = llvm::FunctionType::get(sum->getType(), {sum->getType()}, false);
    sum = b_.CreateCall(llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/true), {sum});
  }

  // The argument that is the first C of a row of all A.
  unsigned c_of(unsigned row) const {
    return products_.times * (products_.rows + products_.columns) + row / kSize * products_.columns;
  }

  Value* address(unsigned argument, int64_t offset) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), code_.getArg(argument), offset);
  }

  Value* element_of_a(unsigned first, unsigned row, unsigned k) {
    const int64_t offset = products_.a_pitch * (row % kSize) + static_cast<int64_t>(k) * 4;
    return b_.CreateAlignedLoad(b_.getFloatTy(), address(first + row / kSize, offset),
                                llvm::Align(4));
  }

  // The same row of all matrices from `argument` on.
  Value* load_rows(unsigned argument, int64_t pitch, unsigned row) {
    llvm::SmallVector<Value*> parts;
    for (unsigned column = 0; column < products_.columns; ++column)
      parts.push_back(b_.CreateAlignedLoad(
          floats(b_.getContext(), kSize), address(argument + column, pitch * row), llvm::Align(4)));
    return llvm::concatenateVectors(b_, parts);
  }

  void store_rows(unsigned row) {
    for (unsigned column = 0; column < products_.columns; ++column) {
      Value* part =
          b_.CreateShuffleVector(sums_[row], llvm::createSequentialMask(column * kSize, kSize, 0));
      b_.CreateAlignedStore(part,
                            address(c_of(row) + column, RowProducts::kDensePitch * (row % kSize)),
                            llvm::Align(RowProducts::kDensePitch));
    }
  }

  llvm::IRBuilder<> b_;
  llvm::Function& code_;
  const RowProducts& products_;
  llvm::SmallVector<Value*> sums_;
};

}  // namespace

bool has_row_products(const llvm::Function& code, const llvm::TargetTransformInfo& costs) {
  return llvm::Triple(code.getParent()->getTargetTriple()).isX86() &&
         costs.isTypeLegal(floats(code.getContext(), 2 * kSize));
}

llvm::Function* get_row_products(llvm::Module& module, const RowProducts& products,
                                 const llvm::Function& like) {
  std::string name;
  llvm::raw_string_ostream(name) << "simd.row.products." << products.rows << "x" << products.columns
                                 << "x" << products.times << "." << products.a_pitch << "."
                                 << products.b_pitch;
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  const unsigned matrices =
      products.times * (products.rows + products.columns) + products.rows * products.columns;
  const llvm::SmallVector<llvm::Type*> pointers(matrices, llvm::PointerType::get(context, 0));
  auto* code = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), pointers, false),
      llvm::Function::InternalLinkage, name, module);
  code->addFnAttrs(llvm::AttrBuilder(context, like.getAttributes().getFnAttrs()));
  for (llvm::Argument& argument : code->args()) argument.addAttr(llvm::Attribute::NoCapture);
  RowMultiplier(*code, products).write();
  return code;
}

}  // namespace metal::cpu
