#include "metal/cuda/several_threads.h"

#include <cstdlib>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/hardware_math.h"

namespace metal::cuda {
namespace {

using compiler::Builtin;
using llvm::Instruction;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

constexpr unsigned kMostInstructions = 128;  // of a kernel
constexpr uint64_t kVectorBytes = 16;        // that a thread reads at once
constexpr uint64_t kMostThreads = 8;

bool is_position(const Value* value, unsigned component) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const auto found = call ? compiler::as_builtin_call(*call) : std::nullopt;
  return found && found->builtin == Builtin::ThreadPositionInGrid && found->component == component;
}

bool only_returns(const llvm::BasicBlock& block) {
  return llvm::isa<llvm::ReturnInst>(block.front());
}

// The code of a thread: one block, or two if threads from a limit on return after the first one:
// `if (i >= n) return;`.
struct StraightCode {
  llvm::SmallVector<const llvm::BasicBlock*, 2> blocks;
  Value* limit = nullptr;
  bool is_signed = false;
};

std::optional<StraightCode> find_straight_code(const llvm::Function& kernel) {
  const llvm::BasicBlock& first = kernel.getEntryBlock();
  if (kernel.size() == 1) return StraightCode{{&first}};
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(first.getTerminator());
  const auto* compare = branch && branch->isConditional()
                            ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                            : nullptr;
  if (!compare || !is_position(compare->getOperand(0), 0)) return std::nullopt;
  const bool returns = only_returns(*branch->getSuccessor(0));
  const llvm::BasicBlock& second = *branch->getSuccessor(returns ? 1 : 0);
  const llvm::BasicBlock& other = *branch->getSuccessor(returns ? 0 : 1);
  const llvm::BasicBlock* after = second.getSingleSuccessor();
  if (!only_returns(other) ||
      !(llvm::isa<llvm::ReturnInst>(second.getTerminator()) || (after && only_returns(*after))))
    return std::nullopt;
  const auto predicate = returns ? compare->getInversePredicate() : compare->getPredicate();
  if (predicate != llvm::CmpInst::ICMP_ULT && predicate != llvm::CmpInst::ICMP_SLT)
    return std::nullopt;
  return StraightCode{
      {&first, &second}, compare->getOperand(1), predicate == llvm::CmpInst::ICMP_SLT};
}

// Finds out whether the threads of a kernel may run in turn.
class Turns {
 public:
  explicit Turns(const StraightCode& code) : layout_(code.blocks[0]->getModule()->getDataLayout()) {
    for (const llvm::BasicBlock* block : code.blocks) {
      for (const Instruction& instruction : *block) {
        if (!instruction.isTerminator()) add(instruction);
      }
    }
    may_run_ &= !differing_.contains(code.limit);
    // Threads beyond the limit do not run at all.
    may_run_ &= !code.limit || llvm::none_of(*code.blocks[0], [](const Instruction& instruction) {
      return instruction.mayWriteToMemory();
    });
  }

  bool may_run() const { return may_run_; }
  // The size of the smallest elements that threads side by side access side by side.
  uint64_t smallest() const { return smallest_; }

 private:
  void add(const Instruction& instruction) {
    may_run_ &= may_run(instruction);
    if (is_position(&instruction, 0) || llvm::any_of(instruction.operands(), [this](auto& use) {
          return differing_.contains(use.get());
        }))
      differing_.insert(&instruction);
  }

  bool may_run(const Instruction& instruction) {
    if (llvm::isa<llvm::PHINode>(instruction)) return false;
    if (llvm::isa<llvm::AllocaInst>(instruction) || instruction.isAtomic()) return false;
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (const auto found = compiler::as_builtin_call(*call))
        return found->builtin == Builtin::ThreadPositionInGrid ||
               found->builtin == Builtin::ThreadsPerGrid || found->builtin == Builtin::GridSize;
      const llvm::Function* callee = call->getCalledFunction();
      return callee && (callee->isIntrinsic() || compiler::is_hardware_math(*callee)) &&
             call->doesNotAccessMemory() && !call->isConvergent();
    }
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) return !instruction.mayReadOrWriteMemory();
    llvm::Type* element = instruction.getAccessType();
    if (instruction.isVolatile() || element->isVectorTy()) return false;
    if (!differing_.contains(address)) return true;
    const uint64_t size = layout_.getTypeStoreSize(element);
    smallest_ = std::min(smallest_, size);
    return is_side_by_side(address, size);
  }

  // Forwards or backwards.
  bool is_side_by_side(const Value* address, uint64_t size) const {
    const auto distance = distance_of(address);
    return distance && static_cast<uint64_t>(std::abs(*distance)) == size;
  }

  // How much larger a number, or an address in bytes, is for the next thread in x. The positions of
  // the grid do not reach 2^31, so extending them keeps their distance; nothing is known of other
  // 32-bit numbers, whose sums may wrap around.
  std::optional<int64_t> distance_of(const Value* value) const {
    if (!differing_.contains(value)) return 0;
    if (is_position(value, 0)) return 1;
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
      const bool extends = llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast);
      return extends && is_position(cast->getOperand(0), 0) ? std::optional<int64_t>(1)
                                                            : std::nullopt;
    }
    if (const auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(value)) {
      if (offset->getNumIndices() != 1) return std::nullopt;
      const auto size =
          static_cast<int64_t>(layout_.getTypeAllocSize(offset->getSourceElementType()));
      return sum(distance_of(offset->getPointerOperand()), distance_of(offset->getOperand(1)),
                 size);
    }
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!operation || !operation->getType()->isIntegerTy(64)) return std::nullopt;
    const Value *left = operation->getOperand(0), *right = operation->getOperand(1);
    switch (operation->getOpcode()) {
      case Instruction::Add:
        return sum(distance_of(left), distance_of(right), 1);
      case Instruction::Sub:
        return sum(distance_of(left), distance_of(right), -1);
      default:
        return std::nullopt;
    }
  }

  static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b,
                                    int64_t factor) {
    if (!a || !b) return std::nullopt;
    return *a + *b * factor;
  }

  const llvm::DataLayout& layout_;
  llvm::DenseSet<const Value*> differing_;  // between threads that lie side by side in x
  bool may_run_ = true;
  uint64_t smallest_ = UINT64_MAX;
};

// Copies code for threads at several places in x. Instructions whose operands do not differ are
// copied once, unless they write memory.
class Copies {
 public:
  Copies(llvm::IRBuilder<>& b, const GridArguments& grid, llvm::ArrayRef<Value*> position,
         llvm::ArrayRef<Value*> xs)
      : b_(b), grid_(grid), position_(position), xs_(xs.begin(), xs.end()) {}

  void emit(llvm::ArrayRef<const llvm::BasicBlock*> blocks) {
    for (const llvm::BasicBlock* block : blocks) emit(*block);
  }

  // The copy of a value that does not differ.
  Value* copy_of(Value* value) const {
    const auto found = copies_.find(value);
    return found == copies_.end() ? value : found->second[0];
  }

 private:
  using Values = llvm::SmallVector<Value*, kMostThreads>;  // one, or one for each thread

  void emit(const llvm::BasicBlock& block) {
    for (const Instruction& instruction : block) {
      if (instruction.isTerminator()) continue;
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const auto builtin = call ? compiler::as_builtin_call(*call) : std::nullopt;
      copies_[&instruction] = builtin ? values_of(*builtin) : copy(instruction);
    }
  }

  Values values_of(const compiler::BuiltinCall& call) const {
    if (call.builtin != Builtin::ThreadPositionInGrid)
      return {grid_.threads_per_grid[call.component]};
    if (call.component != 0) return {position_[call.component]};
    return xs_;
  }

  Values copy(const Instruction& instruction) {
    const bool differs = llvm::any_of(instruction.operands(), [&](const llvm::Use& use) {
      const auto found = copies_.find(use.get());
      return found != copies_.end() && found->second.size() > 1;
    });
    const size_t count = differs || instruction.mayWriteToMemory() ? xs_.size() : 1;
    Values made;
    for (size_t i = 0; i < count; ++i) {
      Instruction* copy = instruction.clone();
      for (llvm::Use& use : copy->operands()) {
        const auto found = copies_.find(use.get());
        if (found != copies_.end()) use.set(found->second[found->second.size() > 1 ? i : 0]);
      }
      made.push_back(b_.Insert(copy, instruction.getName()));
    }
    return made;
  }

  llvm::IRBuilder<>& b_;
  const GridArguments& grid_;
  llvm::ArrayRef<Value*> position_;
  Values xs_;
  llvm::DenseMap<const Value*, Values> copies_;
};

Value* position_of_thread(llvm::IRBuilder<>& b, unsigned i) {
  return b.CreateNUWAdd(b.CreateNUWMul(read_block(b, i), read_block_size(b, i)), read_thread(b, i));
}

}  // namespace

uint32_t threads_at_once(const llvm::Function& kernel) {
  const auto code = find_straight_code(kernel);
  if (!code || kernel.getInstructionCount() > kMostInstructions) return 1;
  const Turns turns(*code);
  if (!turns.may_run()) return 1;
  const uint64_t threads = std::min(kVectorBytes / turns.smallest(), kMostThreads);
  return static_cast<uint32_t>(std::max(threads, uint64_t{1}));
}

void run_several(llvm::IRBuilder<>& b, const llvm::Function& kernel, const GridArguments& grid,
                 uint32_t count) {
  llvm::Function* entry = b.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b.getContext(), name, entry);
  };
  auto *inside = block("inside"), *together = block("together"), *apart = block("apart");
  auto *one = block("one"), *outside = block("outside");
  Value* position[3];
  for (unsigned i = 0; i < 3; ++i) position[i] = position_of_thread(b, i);
  Value* x = position[0] = b.CreateNUWMul(position[0], b.getInt32(count));
  Value* is_inside = b.getTrue();
  for (unsigned i = 0; i < 3; ++i)
    is_inside = b.CreateAnd(is_inside, b.CreateICmpULT(position[i], grid.threads_per_grid[i]));
  b.CreateCondBr(is_inside, inside, outside);
  b.SetInsertPoint(outside);
  b.CreateRetVoid();

  b.SetInsertPoint(inside);
  const StraightCode code = *find_straight_code(kernel);
  Value* end = grid.threads_per_grid[0];
  if (code.limit) {
    Copies before(b, grid, position, {x});
    before.emit(code.blocks[0]);
    Value* limit = before.copy_of(code.limit);
    if (code.is_signed) limit = b.CreateBinaryIntrinsic(Intrinsic::smax, limit, b.getInt32(0));
    end = b.CreateBinaryIntrinsic(Intrinsic::umin, end, limit);
  }
  auto* some = block("some");
  b.CreateCondBr(b.CreateICmpULT(x, end), some, outside);
  b.SetInsertPoint(some);
  b.CreateCondBr(b.CreateICmpUGE(b.CreateSub(end, x), b.getInt32(count)), together, apart);
  b.SetInsertPoint(together);
  llvm::SmallVector<Value*> xs;
  for (uint32_t i = 0; i < count; ++i) xs.push_back(b.CreateNUWAdd(x, b.getInt32(i)));
  Copies(b, grid, position, xs).emit(code.blocks);
  b.CreateRetVoid();

  b.SetInsertPoint(apart);
  b.CreateBr(one);
  b.SetInsertPoint(one);
  llvm::PHINode* next = b.CreatePHI(b.getInt32Ty(), 2);
  Copies(b, grid, position, {next}).emit(code.blocks);
  Value* after = b.CreateNUWAdd(next, b.getInt32(1));
  next->addIncoming(x, apart);
  next->addIncoming(after, one);
  b.CreateCondBr(b.CreateICmpULT(after, end), one, outside);
}

}  // namespace metal::cuda
