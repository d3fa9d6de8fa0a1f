#include "metal/cuda/several_threads.h"

#include <cstdlib>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/hardware_math.h"
#include "metal/cuda/straight_code.h"

namespace metal::cuda {
namespace {

using compiler::Builtin;
using llvm::Instruction;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

constexpr unsigned kMostInstructions = 192;  // of a kernel
constexpr uint64_t kVectorBytes = 16;        // that a thread reads at once
constexpr uint64_t kMostThreads = 8;

// Extensions of 32-bit numbers, with how much larger the number is for the next thread in x.
using Extensions = llvm::MapVector<const llvm::CastInst*, int64_t>;

// Finds out whether the threads of a kernel may run in turn.
class Turns {
 public:
  explicit Turns(const StraightCode& code)
      : layout_(code.steps[0].block->getModule()->getDataLayout()) {
    for (const Step& step : code.steps) {
      add(*step.block);
      for (const llvm::BasicBlock* block : step.branches) {
        add(*block);
        // Threads run branches one after the other, so each would wait for memory.
        may_run_ &= llvm::none_of(*block, [](const Instruction& instruction) {
          return instruction.mayReadOrWriteMemory();
        });
      }
    }
    for (const auto [step, limits] : llvm::zip(code.steps, code.limits))
      may_run_ &= may_end(*step.block, limits);
    may_run_ &= find_extended_numbers(code);
  }

  bool may_run() const { return may_run_; }
  // What addresses are made of. Threads may only run at once if these numbers do not wrap around
  // among them.
  const Extensions& extensions() const { return extensions_; }
  // What computes them.
  const llvm::DenseSet<const Value*>& extended_numbers() const { return extended_numbers_; }
  // The size of the largest elements that threads side by side access side by side; 0 if there are
  // none.
  uint64_t largest() const { return largest_; }

 private:
  // Whether threads beyond the limits need not run the block at all, and the other threads that lie
  // side by side all go on.
  bool may_end(const llvm::BasicBlock& block, const Limits& limits) const {
    const auto writes = [](const Instruction& instruction) {
      return instruction.mayWriteToMemory();
    };
    const auto differs = [this](const auto& limit) { return differing_.contains(limit.end); };
    const auto decides = [this](const auto& condition) {
      return differing_.contains(condition.value);
    };
    return llvm::none_of(block, writes) && llvm::none_of(limits.limits, differs) &&
           llvm::none_of(limits.conditions, decides);
  }

  void add(const llvm::BasicBlock& block) {
    for (const Instruction& instruction : block) {
      if (!instruction.isTerminator()) add(instruction);
    }
  }

  void add(const Instruction& instruction) {
    may_run_ &= may_run(instruction);
    if (llvm::isa<llvm::PHINode>(instruction) || is_position(&instruction, 0) ||
        llvm::any_of(instruction.operands(),
                     [this](auto& use) { return differing_.contains(use.get()); }))
      differing_.insert(&instruction);
  }

  bool may_run(const Instruction& instruction) {
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
    largest_ = std::max(largest_, size);
    return is_side_by_side(address, size);
  }

  // Forwards or backwards.
  bool is_side_by_side(const Value* address, uint64_t size) {
    const auto distance = distance_of(address);
    return distance && static_cast<uint64_t>(std::abs(*distance)) == size;
  }

  // How much larger a number, or an address in bytes, is for the next thread in x. 32-bit numbers
  // wrap around.
  std::optional<int64_t> distance_of(const Value* value) {
    if (!differing_.contains(value)) return 0;
    if (is_position(value, 0)) return 1;
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value))
      return distance_of_extended(*cast);
    if (const auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(value)) {
      if (offset->getNumIndices() != 1) return std::nullopt;
      const auto size =
          static_cast<int64_t>(layout_.getTypeAllocSize(offset->getSourceElementType()));
      return sum(distance_of(offset->getPointerOperand()), distance_of(offset->getOperand(1)),
                 size);
    }
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!operation || !operation->getType()->isIntegerTy()) return std::nullopt;
    const Value *left = operation->getOperand(0), *right = operation->getOperand(1);
    switch (operation->getOpcode()) {
      case Instruction::Add:
        return sum(distance_of(left), distance_of(right), 1);
      case Instruction::Sub:
        return sum(distance_of(left), distance_of(right), -1);
      case Instruction::Or:  // a sum of numbers without common bits
        return checked_cast<llvm::PossiblyDisjointInst>(operation)->isDisjoint()
                   ? sum(distance_of(left), distance_of(right), 1)
                   : std::nullopt;
      case Instruction::Xor:  // -1 - left
        return llvm::PatternMatch::match(right, llvm::PatternMatch::m_AllOnes())
                   ? sum(0, distance_of(left), -1)
                   : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  // The positions of the grid do not reach 2^31.
  std::optional<int64_t> distance_of_extended(const llvm::CastInst& cast) {
    const Value* number = cast.getOperand(0);
    const bool extends = llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast);
    if (!extends || !number->getType()->isIntegerTy(32)) return std::nullopt;
    const auto distance = distance_of(number);
    if (distance && !is_position(number, 0)) extensions_[&cast] = *distance;
    return distance;
  }

  // False if a number cannot be computed before the rest of the code: it depends on branches, or on
  // memory that may have been written.
  bool find_extended_numbers(const StraightCode& code) {
    llvm::SmallVector<const Value*> open;
    for (const auto& [cast, distance] : extensions_) open.push_back(cast->getOperand(0));
    while (!open.empty()) {
      const auto* instruction = llvm::dyn_cast<Instruction>(open.pop_back_val());
      if (!instruction || !extended_numbers_.insert(instruction).second) continue;
      open.append(instruction->value_op_begin(), instruction->value_op_end());
    }
    size_t found = 0;
    bool wrote = false;
    for (const Step& step : code.steps) {
      for (const Instruction& instruction : *step.block) {
        wrote |= instruction.mayWriteToMemory();
        if (!extended_numbers_.contains(&instruction)) continue;
        const bool is_early = !wrote || !instruction.mayReadFromMemory();
        if (is_early && !llvm::isa<llvm::PHINode>(instruction)) ++found;
      }
    }
    return found == extended_numbers_.size();
  }

  static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b,
                                    int64_t factor) {
    if (!a || !b) return std::nullopt;
    return *a + *b * factor;
  }

  const llvm::DataLayout& layout_;
  llvm::DenseSet<const Value*> differing_;  // between threads that lie side by side in x
  Extensions extensions_;
  llvm::DenseSet<const Value*> extended_numbers_;
  bool may_run_ = true;
  uint64_t largest_ = 0;
};

// Copies code for threads at several places in x. Instructions whose operands do not differ are
// copied once, unless they write memory.
class Copies {
 public:
  Copies(llvm::IRBuilder<>& b, const GridArguments& grid, llvm::ArrayRef<Value*> position,
         llvm::ArrayRef<Value*> xs, const Extensions& extensions)
      : b_(b),
        grid_(grid),
        position_(position),
        xs_(xs.begin(), xs.end()),
        extensions_(extensions) {}

  void emit(const StraightCode& code) {
    for (size_t i = 0; i < code.steps.size(); ++i) {
      emit(*code.steps[i].block);
      const bool has_branches = i + 1 < code.steps.size() && i >= code.limits.size();
      if (has_branches) emit_branches(code.steps[i], *code.steps[i + 1].block);
    }
  }

  void emit(const llvm::BasicBlock& block) {
    for (const Instruction& instruction : block) {
      if (!instruction.isTerminator() && !llvm::isa<llvm::PHINode>(instruction)) emit(instruction);
    }
  }

  // Only these instructions, of which none are in branches.
  void emit(const StraightCode& code, const llvm::DenseSet<const Value*>& wanted) {
    for (const Step& step : code.steps) {
      for (const Instruction& instruction : *step.block)
        if (wanted.contains(&instruction)) emit(instruction);
    }
  }

  // The copy of a value that does not differ.
  Value* copy_of(Value* value) const {
    const auto found = copies_.find(value);
    return found == copies_.end() ? value : found->second[0];
  }

 private:
  using Values = llvm::SmallVector<Value*, kMostThreads>;  // one, or one for each thread
  using Blocks = llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*>;

  void emit(const Instruction& instruction) {
    const auto builtin = builtin_of(instruction);
    copies_[&instruction] = builtin ? values_of(*builtin) : copy(instruction);
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
    const auto* extension = llvm::dyn_cast<llvm::CastInst>(&instruction);
    const auto found = extension ? extensions_.find(extension) : extensions_.end();
    Values made;
    for (size_t i = 0; i < count; ++i) {
      const bool is_sum = i > 0 && found != extensions_.end();
      made.push_back(is_sum ? b_.CreateNSWAdd(made[0], distance(made[0], found->second, i))
                            : copy(instruction, i));
    }
    return made;
  }

  static Value* distance(const Value* first, int64_t of_next, size_t thread) {
    return llvm::ConstantInt::getSigned(first->getType(), of_next * static_cast<int64_t>(thread));
  }

  static std::optional<compiler::BuiltinCall> builtin_of(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call ? compiler::as_builtin_call(*call) : std::nullopt;
  }

  // For one of the threads.
  Instruction* copy(const Instruction& instruction, size_t thread) {
    Instruction* copy = instruction.clone();
    for (llvm::Use& use : copy->operands()) {
      const auto found = copies_.find(use.get());
      if (found != copies_.end()) use.set(found->second[found->second.size() > 1 ? thread : 0]);
    }
    return b_.Insert(copy, instruction.getName());
  }

  // One thread after the other runs the branches.
  void emit_branches(const Step& step, const llvm::BasicBlock& next) {
    llvm::Function* entry = b_.GetInsertBlock()->getParent();
    for (size_t thread = 0; thread < xs_.size(); ++thread) {
      Blocks blocks{{step.block, b_.GetInsertBlock()}};
      for (const llvm::BasicBlock* block : step.branches)
        blocks[block] = llvm::BasicBlock::Create(b_.getContext(), block->getName(), entry);
      blocks[&next] = llvm::BasicBlock::Create(b_.getContext(), next.getName(), entry);
      emit_end(*step.block, blocks, thread);
      for (const llvm::BasicBlock* block : step.branches) {
        b_.SetInsertPoint(blocks[block]);
        emit_for(block->phis(), blocks, thread);
        emit_for(llvm::make_range(block->getFirstNonPHIIt(), block->getTerminator()->getIterator()),
                 blocks, thread);
        emit_end(*block, blocks, thread);
      }
      b_.SetInsertPoint(blocks[&next]);
      emit_for(next.phis(), blocks, thread);
    }
  }

  template <typename Range>
  void emit_for(const Range& instructions, const Blocks& blocks, size_t thread) {
    for (const Instruction& instruction : instructions) {
      if (const auto builtin = builtin_of(instruction)) {
        copies_[&instruction] = values_of(*builtin);
        continue;
      }
      Instruction* made = copy(instruction, thread);
      copies_.try_emplace(&instruction, xs_.size(), nullptr).first->second[thread] = made;
      auto* phi = llvm::dyn_cast<llvm::PHINode>(made);
      for (unsigned i = 0; phi && i < phi->getNumIncomingValues(); ++i)
        phi->setIncomingBlock(i, blocks.lookup(phi->getIncomingBlock(i)));
    }
  }

  void emit_end(const llvm::BasicBlock& block, const Blocks& blocks, size_t thread) {
    Instruction* end = copy(*block.getTerminator(), thread);
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i)
      end->setSuccessor(i, blocks.lookup(end->getSuccessor(i)));
  }

  llvm::IRBuilder<>& b_;
  const GridArguments& grid_;
  llvm::ArrayRef<Value*> position_;
  Values xs_;
  const Extensions& extensions_;  // of numbers that do not wrap around
  llvm::DenseMap<const Value*, Values> copies_;
};

Value* position_of_thread(llvm::IRBuilder<>& b, unsigned i) {
  return b.CreateNUWAdd(b.CreateNUWMul(read_block(b, i), read_block_size(b, i)), read_thread(b, i));
}

// Whether the first of the threads, and others up to an end in x, go on. Makes the end smaller.
// `&&` and `||` do not use what stands behind a limit that is not kept, which may be poison:
// freezing makes it some number.
Value* goes_on(llvm::IRBuilder<>& b, const Copies& code, const Limits& limits, Value* first,
               Value*& end) {
  Value* all = b.getTrue();
  for (const Limits::Limit& limit : limits.limits) {
    Value* own = b.CreateFreeze(code.copy_of(limit.end));
    if (limit.is_signed) own = b.CreateBinaryIntrinsic(Intrinsic::smax, own, b.getInt32(0));
    end = b.CreateBinaryIntrinsic(Intrinsic::umin, end, own);
  }
  for (const Limits::Condition& condition : limits.conditions) {
    Value* value = b.CreateFreeze(code.copy_of(condition.value));
    all = b.CreateAnd(all, condition.wanted ? value : b.CreateNot(value));
  }
  return b.CreateAnd(all, b.CreateICmpULT(first, end));
}

// Whether an extended number does not wrap around among `count` threads, of which `first` has it.
Value* stays_in_range(llvm::IRBuilder<>& b, const llvm::CastInst& cast, Value* first,
                      int64_t distance, uint32_t count) {
  const bool is_signed = llvm::isa<llvm::SExtInst>(cast);
  const llvm::APInt reach(32, static_cast<uint64_t>(std::abs(distance)) * (count - 1));
  const llvm::APInt lowest = is_signed ? llvm::APInt::getSignedMinValue(32) : llvm::APInt(32, 0);
  const llvm::APInt highest = lowest - 1;
  if (distance > 0) {
    return b.CreateICmp(is_signed ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE, first,
                        b.getInt(highest - reach));
  }
  return b.CreateICmp(is_signed ? llvm::ICmpInst::ICMP_SGE : llvm::ICmpInst::ICMP_UGE, first,
                      b.getInt(lowest + reach));
}

}  // namespace

uint32_t threads_at_once(const llvm::Function& kernel) {
  const auto code = find_straight_code(kernel);
  if (!code || kernel.getInstructionCount() > kMostInstructions) return 1;
  const Turns turns(*code);
  if (!turns.may_run() || turns.largest() == 0) return 1;
  // With more, a warp's access to the largest elements would not be one block of memory.
  const uint64_t threads = std::min(kVectorBytes / turns.largest(), kMostThreads);
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
  const Turns turns(code);
  const Extensions none;
  Value* end = grid.threads_per_grid[0];
  Copies before(b, grid, position, {x}, none);
  for (const auto [step, limits] : llvm::zip(code.steps, code.limits)) {
    before.emit(*step.block);
    auto* some = block("some");
    b.CreateCondBr(goes_on(b, before, limits, x, end), some, outside);
    b.SetInsertPoint(some);
  }
  Value* at_once = b.CreateICmpUGE(b.CreateSub(end, x), b.getInt32(count));
  Copies numbers(b, grid, position, {x}, none);
  numbers.emit(code, turns.extended_numbers());
  for (const auto& [cast, distance] : turns.extensions()) {
    Value* first = numbers.copy_of(cast->getOperand(0));
    at_once = b.CreateAnd(at_once, stays_in_range(b, *cast, first, distance, count));
  }
  b.CreateCondBr(at_once, together, apart);
  b.SetInsertPoint(together);
  llvm::SmallVector<Value*> xs;
  for (uint32_t i = 0; i < count; ++i) xs.push_back(b.CreateNUWAdd(x, b.getInt32(i)));
  Copies(b, grid, position, xs, turns.extensions()).emit(code);
  b.CreateRetVoid();

  b.SetInsertPoint(apart);
  b.CreateBr(one);
  b.SetInsertPoint(one);
  llvm::PHINode* next = b.CreatePHI(b.getInt32Ty(), 2);
  Copies(b, grid, position, {next}, none).emit(code);
  Value* after = b.CreateNUWAdd(next, b.getInt32(1));
  next->addIncoming(x, apart);
  next->addIncoming(after, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(after, end), one, outside);
}

}  // namespace metal::cuda
