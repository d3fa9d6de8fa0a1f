#include "metal/cpu/vectorizer/simdgroup_matrix.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/vectorizer/multiply_accumulate.h"
#include "metal/cpu/vectorizer/widener.h"

namespace metal::cpu {
namespace {

using llvm::Value;

constexpr const char* kMultiplyAccumulate = "simd.multiply.accumulate";

// What an element of a result was taken from.
Value* origin(Value* value) {
  while (llvm::isa<llvm::BitCastInst, llvm::TruncInst>(value) ||
         (llvm::isa<llvm::BinaryOperator>(value) &&
          llvm::cast<llvm::BinaryOperator>(value)->getOpcode() == llvm::Instruction::LShr))
    value = llvm::cast<llvm::Instruction>(value)->getOperand(0);
  return value;
}

// Calls of a block that follow each other and have the same A become one.
class ProductJoiner {
 public:
  ProductJoiner(llvm::Function& single, const llvm::TargetTransformInfo& costs)
      : single_(single), costs_(costs), most_(most_products(single.getContext(), costs)) {}

  bool run(llvm::BasicBlock& block) {
    bool changed = false;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (!instruction.mayReadOrWriteMemory()) continue;
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const bool is_product = call && call->getCalledFunction() == &single_ &&
                              llvm::all_of(call->args(), [](const Value* argument) {
                                return llvm::isa<llvm::AllocaInst>(argument);
                              });
      if (!is_product || products_.size() == most_ || !joins(*call)) changed |= join();
      if (is_product) products_.push_back(call);
    }
    return join() || changed;
  }

 private:
  // Whether A is the same, and no product changes what another needs.
  bool joins(const llvm::CallInst& product) const {
    return llvm::all_of(products_, [&](const llvm::CallInst* other) {
      return other->getArgOperand(0) == product.getArgOperand(0) &&
             other->getArgOperand(1) == product.getArgOperand(1) &&
             !changes_operand(*other, product) && !changes_operand(product, *other);
    });
  }

  static bool changes_operand(const llvm::CallInst& product, const llvm::CallInst& other) {
    return llvm::any_of(llvm::drop_begin(product.args(), 4),
                        [&](const Value* sums) { return llvm::is_contained(other.args(), sums); });
  }

  bool join() {
    const llvm::SmallVector<llvm::CallInst*> products = std::move(products_);
    products_.clear();
    if (products.size() < 2) return false;
    llvm::SmallVector<Value*> arguments(llvm::ArrayRef(products[0]->op_begin(), 2));
    for (const llvm::CallInst* product : products)
      arguments.append(product->arg_begin() + 2, product->arg_end());
    llvm::IRBuilder<>(products.back()).CreateCall(function_of(arguments.size()), arguments);
    for (llvm::CallInst* product : products) product->eraseFromParent();
    return true;
  }

  llvm::Function* function_of(size_t arguments) {
    const std::string name = (kMultiplyAccumulate + llvm::Twine(arguments / 4)).str();
    llvm::Module& module = *single_.getParent();
    if (llvm::Function* known = module.getFunction(name)) return known;
    const llvm::SmallVector<llvm::Type*> pointers(arguments, single_.getArg(0)->getType());
    auto* code =
        llvm::Function::Create(llvm::FunctionType::get(single_.getReturnType(), pointers, false),
                               llvm::Function::InternalLinkage, name, module);
    code->addFnAttrs(llvm::AttrBuilder(code->getContext(), single_.getAttributes().getFnAttrs()));
    for (llvm::Argument& argument : code->args()) argument.addAttr(llvm::Attribute::NoCapture);
    write_multiply_accumulate(*code, costs_);
    return code;
  }

  llvm::Function& single_;
  const llvm::TargetTransformInfo& costs_;
  const unsigned most_;
  llvm::SmallVector<llvm::CallInst*> products_;
};

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

llvm::PreservedAnalyses JoinProductsPass::run(llvm::Function& wide,
                                              llvm::FunctionAnalysisManager& analyses) {
  llvm::Function* single = wide.getParent()->getFunction(kMultiplyAccumulate);
  if (!single || single == &wide) return llvm::PreservedAnalyses::all();
  ProductJoiner joiner(*single, analyses.getResult<llvm::TargetIRAnalysis>(wide));
  bool changed = false;
  for (llvm::BasicBlock& block : wide) changed |= joiner.run(block);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
