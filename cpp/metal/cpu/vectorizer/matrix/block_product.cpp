#include "metal/cpu/vectorizer/matrix/block_product.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Value;

llvm::FixedVectorType* floats(llvm::LLVMContext& context, unsigned count) {
  return llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), count);
}

// A step that is only known at run time is an argument of the function.
bool is_argument(const FactorLayout& layout) { return !llvm::isa<llvm::ConstantInt>(layout.step); }

// Writes the function that computes a block product C += A * B. It keeps a row of C, or the rows of
// two neighbouring C, in a register, and adds an element of A, splatted by its load, times a row of
// B, or of two. So nothing is shuffled.
//
// This is a function of its own, because the scheduler keeps no sums in registers if it sees more
// products than the registers have room for.
class BlockWriter {
 public:
  BlockWriter(llvm::Function& code, const BlockProduct& product, bool holds_rows)
      : b_(llvm::BasicBlock::Create(code.getContext(), "entry", &code)),
        code_(code),
        product_(product),
        holds_rows_(holds_rows) {
    unsigned next = first_sum() + product.rows * product.columns;
    a_step_ = is_argument(product.a) ? code.getArg(next++) : product.a.step;
    b_step_ = is_argument(product.b) ? code.getArg(next++) : product.b.step;
  }

  void write() {
    for (unsigned row = 0; row < product_.rows * kMatrixSize; ++row)
      sums_.push_back(load_row(sum_of(row), dense(), row % kMatrixSize));
    const unsigned factors = product_.rows + product_.columns;
    for (unsigned first = 0; first < product_.factors.size(); first += factors) {
      for (unsigned k = 0; k < kMatrixSize; ++k) add_products(first, k);
    }
    for (unsigned row = 0; row < sums_.size(); ++row) store_row(row);
    b_.CreateRetVoid();
  }

 private:
  // Adds the products of column `k` of the A from argument `first` on with row `k` of the B after
  // them.
  void add_products(unsigned first, unsigned k) {
    Value* of_b = load_row(first + product_.rows, b_step_, k);
    for (unsigned row = 0; row < sums_.size(); ++row) {
      Value* of_a =
          b_.CreateVectorSplat(product_.columns * kMatrixSize, element_of_a(first, row, k));
      sums_[row] = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, sums_[row]->getType(),
                                      {of_a, of_b, sums_[row]});
    }
    if (!holds_rows_) return;
    for (Value*& sum : sums_) hold(sum);
  }

  // Keeps a sum in a register at this place. Otherwise the scheduler moves loads ahead of earlier
  // products and has no registers left for sums. The constraint stands for any vector register of
  // x86.
  void hold(Value*& sum) {
    auto* type = llvm::FunctionType::get(sum->getType(), {sum->getType()}, false);
    sum = b_.CreateCall(llvm::InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/true), {sum});
  }

  unsigned first_sum() const { return static_cast<unsigned>(product_.factors.size()); }
  // The argument of the leftmost C for a row, counted over all A.
  unsigned sum_of(unsigned row) const { return first_sum() + row / kMatrixSize * product_.columns; }
  Value* dense() { return b_.getInt64(kDenseStep); }

  Value* address(unsigned argument, Value* step, unsigned steps, int64_t offset) {
    Value* start = code_.getArg(argument);
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step))
      return b_.CreateConstGEP1_64(b_.getInt8Ty(), start, known->getSExtValue() * steps + offset);
    start = b_.CreateGEP(b_.getInt8Ty(), start, b_.CreateMul(step, b_.getInt64(steps)));
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), start, offset);
  }

  Value* element_of_a(unsigned first, unsigned row, unsigned k) {
    const unsigned in_matrix = row % kMatrixSize, argument = first + row / kMatrixSize;
    const bool transposed = product_.a.transposed;
    Value* from = address(argument, a_step_, transposed ? k : in_matrix,
                          kFloat * static_cast<int64_t>(transposed ? in_matrix : k));
    return b_.CreateAlignedLoad(b_.getFloatTy(), from, llvm::Align(kFloat));
  }

  // Loads one row of each of the matrices from `argument` on.
  Value* load_row(unsigned argument, Value* step, unsigned row) {
    llvm::SmallVector<Value*> parts;
    for (unsigned column = 0; column < product_.columns; ++column)
      parts.push_back(b_.CreateAlignedLoad(floats(b_.getContext(), kMatrixSize),
                                           address(argument + column, step, row, 0),
                                           llvm::Align(kFloat)));
    return llvm::concatenateVectors(b_, parts);
  }

  void store_row(unsigned row) {
    for (unsigned column = 0; column < product_.columns; ++column) {
      Value* part = sums_[row];
      if (product_.columns > 1)
        part = b_.CreateShuffleVector(
            part, llvm::createSequentialMask(column * kMatrixSize, kMatrixSize, 0));
      b_.CreateAlignedStore(part, address(sum_of(row) + column, dense(), row % kMatrixSize, 0),
                            llvm::Align(kDenseStep));
    }
  }

  llvm::IRBuilder<> b_;
  llvm::Function& code_;
  const BlockProduct& product_;
  const bool holds_rows_;
  Value* a_step_;
  Value* b_step_;
  llvm::SmallVector<Value*> sums_;
};

std::string name_of(const BlockProduct& product) {
  const size_t factors = product.rows + product.columns;
  std::string name;
  llvm::raw_string_ostream text(name);
  text << "simd.block.product." << product.rows << "x" << product.columns << "x"
       << product.factors.size() / factors;
  for (const FactorLayout& layout : {product.a, product.b}) {
    text << (layout.transposed ? ".columns" : ".rows");
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(layout.step))
      text << known->getSExtValue();
  }
  return name;
}

}  // namespace

// If a register holds the rows of two B, the sums of two A times two B fill half of the registers.
BlockLimits find_block_limits(const llvm::Function& code, const llvm::TargetTransformInfo& costs) {
  auto takes = [&](unsigned count) { return costs.isTypeLegal(floats(code.getContext(), count)); };
  return {.side = takes(2 * kMatrixSize) ? 2U : 1U,
          .holds_rows =
              takes(kMatrixSize) && llvm::Triple(code.getParent()->getTargetTriple()).isX86()};
}

void create_block_product(llvm::IRBuilder<>& b, const BlockProduct& product,
                          const BlockLimits& limits, const llvm::Function& like) {
  llvm::SmallVector<Value*> operands(product.factors);
  operands.append(product.sums);
  for (const FactorLayout& layout : {product.a, product.b}) {
    if (is_argument(layout)) operands.push_back(layout.step);
  }
  llvm::SmallVector<llvm::Type*> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto* code = checked_cast<llvm::Function>(
      module
          .getOrInsertFunction(name_of(product),
                               llvm::FunctionType::get(b.getVoidTy(), types, false))
          .getCallee());
  if (code->isDeclaration()) {
    code->setLinkage(llvm::GlobalValue::InternalLinkage);
    code->addFnAttrs(llvm::AttrBuilder(b.getContext(), like.getAttributes().getFnAttrs()));
    code->removeFnAttr(llvm::Attribute::AlwaysInline);
    code->removeFnAttr(llvm::Attribute::Convergent);
    code->addFnAttr(llvm::Attribute::NoInline);
    for (llvm::Argument& argument : code->args()) {
      if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoCapture);
    }
    BlockWriter(*code, product, limits.holds_rows).write();
  }
  b.CreateCall(code, operands);
}

}  // namespace metal::cpu
