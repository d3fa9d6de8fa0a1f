#include "metal/cpu/vectorizer/simdgroup_matrix.h"

#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/abi.h"
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

// The functions that multiply, by what they multiply and how.
class ProductFunctions {
 public:
  ProductFunctions(llvm::Function& single, const llvm::TargetTransformInfo& costs)
      : single_(single), costs_(costs) {}

  llvm::Function& single() const { return single_; }
  Products most() const { return most_products(single_.getContext(), costs_); }

  // What a call multiplies, if it does, with the quarters of the lanes not yet in order.
  std::optional<Products> products_of(const llvm::CallInst& call) const {
    const llvm::Function* callee = call.getCalledFunction();
    if (callee == &single_) return Products{};
    const auto* known =
        llvm::find_if(joined_, [&](const auto& one) { return one.first == callee; });
    if (known == joined_.end()) return std::nullopt;
    return known->second;
  }

  llvm::Function* get(const Products& products, bool in_order) {
    const std::string name = (kMultiplyAccumulate + llvm::Twine(".") + llvm::Twine(products.rows) +
                              "x" + llvm::Twine(products.columns) + (in_order ? ".ordered" : ""))
                                 .str();
    llvm::Module& module = *single_.getParent();
    if (llvm::Function* known = module.getFunction(name)) return known;
    const unsigned matrices = products.rows + products.columns + products.rows * products.columns;
    const llvm::SmallVector<llvm::Type*> pointers(2 * matrices, single_.getArg(0)->getType());
    auto* code =
        llvm::Function::Create(llvm::FunctionType::get(single_.getReturnType(), pointers, false),
                               llvm::Function::InternalLinkage, name, module);
    code->addFnAttrs(llvm::AttrBuilder(code->getContext(), single_.getAttributes().getFnAttrs()));
    for (llvm::Argument& argument : code->args()) argument.addAttr(llvm::Attribute::NoCapture);
    write_multiply_accumulate(*code, products, in_order, costs_);
    if (!in_order) joined_.emplace_back(code, products);
    return code;
  }

 private:
  llvm::Function& single_;
  const llvm::TargetTransformInfo& costs_;
  llvm::SmallVector<std::pair<llvm::Function*, Products>> joined_;
};

// The memory of a matrix: that of the lanes' first and of their second elements.
using Matrix = std::pair<Value*, Value*>;

Matrix matrix(const llvm::CallInst& product, unsigned index) {
  return {product.getArgOperand(2 * index), product.getArgOperand(2 * index + 1)};
}

// Products of a block that follow each other and need nothing of each other, joined where they
// share an A or a B.
class ProductJoiner {
 public:
  explicit ProductJoiner(ProductFunctions& functions) : functions_(functions) {}

  bool run(llvm::BasicBlock& block) {
    bool changed = false;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (!instruction.mayReadOrWriteMemory()) continue;
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const bool is_product = call && call->getCalledFunction() == &functions_.single() &&
                              llvm::all_of(call->args(), [](const Value* argument) {
                                return llvm::isa<llvm::AllocaInst>(argument);
                              });
      if (!is_product || !is_independent(*call)) changed |= join();
      if (is_product) products_.push_back(call);
    }
    return join() || changed;
  }

 private:
  // Whether no product changes what another needs.
  bool is_independent(const llvm::CallInst& product) const {
    return llvm::none_of(products_, [&](const llvm::CallInst* other) {
      return changes_operand(*other, product) || changes_operand(product, *other);
    });
  }

  static bool changes_operand(const llvm::CallInst& product, const llvm::CallInst& other) {
    return llvm::any_of(llvm::drop_begin(product.args(), 4),
                        [&](const Value* sums) { return llvm::is_contained(other.args(), sums); });
  }

  bool join() {
    bool changed = false;
    const Products most = functions_.most();
    llvm::Instruction* next = products_.empty() ? nullptr : products_.back()->getNextNode();
    while (!products_.empty()) {
      const auto bs = factors_beside(matrix(*products_[0], 0), most.columns);
      const auto as = factors_of_all(bs, most.rows);
      llvm::SmallVector<llvm::CallInst*> block;
      for (const Matrix& a : as) {
        for (const Matrix& b : bs) block.push_back(take(a, b));
      }
      if (block.size() == 1) continue;
      replace(block, as, bs, *next);
      changed = true;
    }
    return changed;
  }

  llvm::CallInst* find(const Matrix& a, const Matrix& b) const {
    const auto* found = llvm::find_if(products_, [&](const llvm::CallInst* product) {
      return matrix(*product, 0) == a && matrix(*product, 1) == b;
    });
    return found == products_.end() ? nullptr : *found;
  }

  // What A is multiplied with.
  llvm::SmallVector<Matrix> factors_beside(const Matrix& a, unsigned most) const {
    llvm::SmallVector<Matrix> bs;
    for (const llvm::CallInst* product : products_) {
      const Matrix b = matrix(*product, 1);
      if (matrix(*product, 0) == a && !llvm::is_contained(bs, b) && bs.size() < most)
        bs.push_back(b);
    }
    return bs;
  }

  // What each of them is multiplied with.
  llvm::SmallVector<Matrix> factors_of_all(llvm::ArrayRef<Matrix> bs, unsigned most) const {
    llvm::SmallVector<Matrix> as;
    for (const llvm::CallInst* product : products_) {
      const Matrix a = matrix(*product, 0);
      if (as.size() < most && !llvm::is_contained(as, a) &&
          llvm::all_of(bs, [&](const Matrix& b) { return find(a, b); }))
        as.push_back(a);
    }
    return as;
  }

  llvm::CallInst* take(const Matrix& a, const Matrix& b) {
    llvm::CallInst* product = find(a, b);
    products_.erase(llvm::find(products_, product));
    return product;
  }

  void replace(llvm::ArrayRef<llvm::CallInst*> block, llvm::ArrayRef<Matrix> as,
               llvm::ArrayRef<Matrix> bs, llvm::Instruction& next) {
    llvm::SmallVector<Value*> arguments;
    auto add = [&](const Matrix& matrix) { arguments.append({matrix.first, matrix.second}); };
    for (const Matrix& a : as) add(a);
    for (const Matrix& b : bs) add(b);
    for (const llvm::CallInst* product : block) add(matrix(*product, 2));
    const Products products{static_cast<unsigned>(as.size()), static_cast<unsigned>(bs.size())};
    llvm::IRBuilder<>(&next).CreateCall(functions_.get(products, /*in_order=*/false), arguments);
    for (llvm::CallInst* product : block) product->eraseFromParent();
  }

  ProductFunctions& functions_;
  llvm::SmallVector<llvm::CallInst*> products_;
};

// Keeps all matrices of a function with their quarters in order, if it only loads and stores them
// whole.
class QuarterOrder {
 public:
  explicit QuarterOrder(ProductFunctions& functions) : functions_(functions) {}

  bool run(llvm::Function& wide) {
    for (llvm::Instruction& instruction : llvm::instructions(wide)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !functions_.products_of(*call)) continue;
      products_.push_back(call);
      matrices_.insert(call->arg_begin(), call->arg_end());
    }
    if (products_.empty() || !llvm::all_of(matrices_, [&](Value* one) { return is_whole(*one); }))
      return false;
    for (Value* memory : matrices_) reorder(*memory);
    for (llvm::CallInst* product : products_)
      product->setCalledFunction(functions_.get(*functions_.products_of(*product), true));
    return true;
  }

 private:
  static bool is_vector_of_lanes(const llvm::Type* type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getNumElements() == kSimdWidth && vector->getScalarSizeInBits() == 32;
  }

  bool is_whole(const Value& memory) const {
    return llvm::isa<llvm::AllocaInst>(memory) &&
           llvm::all_of(memory.users(), [&](const llvm::User* user) {
             if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
               return load->isSimple() && is_vector_of_lanes(load->getType());
             if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
               return store->isSimple() && store->getPointerOperand() == &memory &&
                      is_vector_of_lanes(store->getValueOperand()->getType());
             return llvm::is_contained(products_, user);
           });
  }

  static void reorder(Value& memory) {
    constexpr unsigned kQuarter = kSimdWidth / 4;
    llvm::SmallVector<int> order;
    for (unsigned quarter : {0u, 2u, 1u, 3u}) {
      for (unsigned lane = 0; lane < kQuarter; ++lane)
        order.push_back(static_cast<int>(quarter * kQuarter + lane));
    }
    for (llvm::User* user : llvm::make_early_inc_range(memory.users())) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        llvm::IRBuilder<> b(store);
        store->setOperand(0, b.CreateShuffleVector(store->getValueOperand(), order));
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        llvm::IRBuilder<> b(load->getNextNode());
        Value* lanes = b.CreateShuffleVector(load, order);
        load->replaceUsesWithIf(lanes,
                                [&](const llvm::Use& use) { return use.getUser() != lanes; });
      }
    }
  }

  ProductFunctions& functions_;
  llvm::SmallVector<llvm::CallInst*> products_;
  llvm::SmallSetVector<Value*, 32> matrices_;
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
                 write_multiply_accumulate(code, Products{}, /*in_order=*/false, w.costs());
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
  const auto& costs = analyses.getResult<llvm::TargetIRAnalysis>(wide);
  ProductFunctions functions(*single, costs);
  ProductJoiner joiner(functions);
  bool changed = false;
  for (llvm::BasicBlock& block : wide) changed |= joiner.run(block);
  if (wants_quarters_in_order(wide.getContext(), costs))
    changed |= QuarterOrder(functions).run(wide);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
