#include "metal/cpu/vectorizer/matrix/lower_matrices.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/matrix/matrix_operations.h"
#include "metal/cpu/vectorizer/matrix/matrix_transfers.h"
#include "metal/cpu/vectorizer/matrix/product_queue.h"
#include "metal/cpu/vectorizer/matrix/sum_memory.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

llvm::SmallVector<CallInst*> operations(llvm::Function& wide, llvm::StringRef name) {
  llvm::SmallVector<CallInst*> found;
  for (Instruction& instruction : llvm::instructions(wide)) {
    if (CallInst* call = matrix_operation(&instruction, name)) found.push_back(call);
  }
  return found;
}

bool is_float_step(const Value* step) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step);
  return known && known->getSExtValue() == kFloat;
}

// Whether an instruction writes to a private variable. No kernel's matrix is in one.
bool writes_private_variable(const Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->isSimple() &&
         llvm::isa<llvm::AllocaInst>(
             llvm::getUnderlyingObject(store->getPointerOperand(), /*MaxLookup=*/0));
}

// Lowers the products of a function, and the loads and stores of their sums.
class Products {
 public:
  Products(llvm::Function& wide, llvm::ArrayRef<CallInst*> products, const BlockLimits& limits)
      : wide_(wide), products_(products), sums_(wide, products), queue_(wide, limits) {}

  void lower() {
    for (BasicBlock& block : wide_) {
      readable_.clear();
      llvm::SmallVector<Instruction*> steps;
      for (Instruction& instruction : block) {
        if (!llvm::isa<llvm::PHINode>(instruction)) steps.push_back(&instruction);
      }
      for (Instruction* step : steps) visit(*step);
    }
    llvm::SmallVector<Instruction*> gone(products_);
    gone.append(phis_.begin(), phis_.end());
    for (Instruction* value : gone)
      value->replaceAllUsesWith(llvm::PoisonValue::get(value->getType()));
    for (Instruction* value : gone) value->eraseFromParent();
  }

 private:
  void visit(Instruction& step) {
    if (matrix_operation(&step, kMatrixMultiply)) return add(checked_cast<CallInst>(step));
    if (step.isTerminator()) return leave(*step.getParent());
    read_sums(step);
    if (step.mayWriteToMemory() && !writes_private_variable(step)) {
      if (queue_.reads_memory_of_kernel()) queue_.flush(step);
      readable_.clear();
    } else if (CallInst* load = matrix_operation(&step, kMatrixLoad)) {
      readable_.insert(load);
    }
  }

  // Queues a product. It is computed when something needs its result.
  void add(CallInst& product) {
    const Factor a = factor(product, 0), b = factor(product, 1);
    Value* sum = sums_.place(&product);
    Value* before = product.getArgOperand(2);
    if (sums_.place(before) != sum) {
      if (queue_.adds_to(sum)) queue_.flush(product);
      store(value_at(before, product), sum, product);
    }
    queue_.add({&product, a, b, sum});
  }

  Factor factor(CallInst& product, unsigned argument) {
    Value* matrix = product.getArgOperand(argument);
    if (CallInst* load = matrix_operation(matrix, kMatrixLoad); load && readable_.contains(load)) {
      const MatrixMemory memory = memory_of(*load);
      if (is_float_step(memory.column_step))
        return {start_of(*load), {memory.row_step, false}, /*is_copy=*/false};
      if (argument == 0 && is_float_step(memory.row_step))
        return {start_of(*load), {memory.column_step, true}, /*is_copy=*/false};
    }
    return {copy_of(matrix, product), {llvm::ConstantInt::get(step_type(), kDenseStep), false}};
  }

  Value* start_of(CallInst& load) {
    Value*& start = starts_[&load];
    if (!start)
      start = llvm::IRBuilder<>(&load).CreateAddrSpaceCast(load.getArgOperand(0), pointer_type());
    return start;
  }

  // A variable that holds the matrix. A sum is copied now, as later products overwrite it; other
  // matrices are stored where they are computed.
  Value* copy_of(Value* matrix, CallInst& product) {
    if (sums_.place(matrix)) {
      Value* copy = variable("factor");
      store(value_at(matrix, product), copy, product);
      return copy;
    }
    Value*& copy = copies_[matrix];
    if (copy) return copy;
    copy = variable("factor");
    auto* definition = llvm::dyn_cast<Instruction>(matrix);
    BasicBlock& block = definition ? *definition->getParent() : wide_.getEntryBlock();
    const bool first = !definition || llvm::isa<llvm::PHINode>(definition);
    const auto place = first ? block.getFirstInsertionPt() : std::next(definition->getIterator());
    // The store follows the variable itself.
    llvm::IRBuilder<> b(
        &block, definition ? place : std::next(checked_cast<Instruction>(copy)->getIterator()));
    b.CreateAlignedStore(matrix, copy, kAlign);
    return copy;
  }

  // Loads the sums that an instruction uses before it.
  void read_sums(Instruction& step) {
    for (llvm::Use& operand : step.operands()) {
      if (sums_.place(operand)) operand.set(value_at(operand, step));
    }
  }

  Value* value_at(Value* value, Instruction& user) {
    Value* place = sums_.place(value);
    if (!place) return value;
    if (queue_.adds_to(place)) queue_.flush(user);
    return llvm::IRBuilder<>(&user).CreateAlignedLoad(value->getType(), place, kAlign);
  }

  void store(Value* matrix, Value* place, Instruction& before) {
    llvm::IRBuilder<>(&before).CreateAlignedStore(matrix, place, kAlign);
  }

  void leave(BasicBlock& block) {
    Instruction& end = *block.getTerminator();
    queue_.flush(end);
    read_sums(end);
    llvm::SmallPtrSet<BasicBlock*, 4> seen;
    llvm::SmallVector<std::pair<Value*, Value*>> stores;
    for (BasicBlock* next : llvm::successors(&block)) {
      if (!seen.insert(next).second) continue;
      for (llvm::PHINode& phi : next->phis()) pass_on(phi, block, stores);
    }
    for (const auto& [value, place] : stores) store(value, place, end);
  }

  void pass_on(llvm::PHINode& phi, BasicBlock& block,
               llvm::SmallVectorImpl<std::pair<Value*, Value*>>& stores) {
    Instruction& end = *block.getTerminator();
    Value* incoming = phi.getIncomingValueForBlock(&block);
    Value* place = sums_.place(&phi);
    if (place && !llvm::is_contained(phis_, &phi)) phis_.push_back(&phi);
    if (place && sums_.place(incoming) == place) return;
    Value* value = value_at(incoming, end);
    if (place) {
      stores.emplace_back(value, place);
    } else if (value != incoming) {
      phi.setIncomingValueForBlock(&block, value);
    }
  }

  llvm::AllocaInst* variable(const char* name) {
    BasicBlock& entry = wide_.getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
    llvm::AllocaInst* memory = b.CreateAlloca(matrix_type(b.getFloatTy()), nullptr, name);
    memory->setAlignment(kAlign);
    return memory;
  }

  llvm::Type* step_type() const { return llvm::Type::getInt64Ty(wide_.getContext()); }
  llvm::Type* pointer_type() const { return llvm::PointerType::get(wide_.getContext(), 0); }

  static constexpr llvm::Align kAlign = llvm::Align::Constant<64>();

  llvm::Function& wide_;
  llvm::ArrayRef<CallInst*> products_;
  const SumMemory sums_;
  ProductQueue queue_;
  llvm::SmallPtrSet<const CallInst*, 16> readable_;  // loads with no write to memory after them
  llvm::DenseMap<const CallInst*, Value*> starts_;
  llvm::DenseMap<Value*, Value*> copies_;
  llvm::SmallVector<llvm::PHINode*> phis_;
};

void drop_unused(llvm::Function& wide) {
  llvm::SmallVector<llvm::WeakTrackingVH> unused;
  for (Instruction& instruction : llvm::instructions(wide)) {
    if (llvm::isInstructionTriviallyDead(&instruction)) unused.emplace_back(&instruction);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
}

// Moves a value into the blocks that use it, and to the end of its own if phis of others do.
void sink_to_users(Instruction& value) {
  for (llvm::Use& use : llvm::make_early_inc_range(value.uses())) {
    auto* user = checked_cast<Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    if (phi) user = phi->getIncomingBlock(use)->getTerminator();
    if (!phi && user->getParent() == value.getParent()) continue;
    Instruction* copy = value.clone();
    copy->insertBefore(user);
    use.set(copy);
  }
}

// Moves the extraction of a sum's elements to its uses, because the first extraction makes the
// queue compute all products.
void sink_elements(llvm::Function& wide) {
  for (CallInst* elements : operations(wide, kMatrixLanes)) {
    for (llvm::User* user : llvm::make_early_inc_range(elements->users())) {
      if (auto* bits = llvm::dyn_cast<llvm::BitCastInst>(user)) sink_to_users(*bits);
    }
  }
  drop_unused(wide);
  for (CallInst* elements : operations(wide, kMatrixLanes)) sink_to_users(*elements);
  drop_unused(wide);
}

}  // namespace

llvm::PreservedAnalyses LowerMatricesPass::run(llvm::Function& wide,
                                               llvm::FunctionAnalysisManager& analyses) {
  const llvm::SmallVector<CallInst*> products = operations(wide, kMatrixMultiply);
  if (!products.empty()) {
    sink_elements(wide);
    const auto& costs = analyses.getResult<llvm::TargetIRAnalysis>(wide);
    Products(wide, products, find_block_limits(wide, costs)).lower();
    drop_unused(wide);
  }
  const bool changed = lower_matrix_transfers(wide) || !products.empty();
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
