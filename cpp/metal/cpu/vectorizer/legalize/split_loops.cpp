#include "metal/cpu/vectorizer/legalize/split_loops.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Type;
using llvm::Value;

// The number of elements of a vector; 1 for a scalar, 0 for other types.
unsigned length_of(const Type& type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type))
    return vector->getNumElements();
  return type.isVectorTy() || type.isAggregateType() ? 0 : 1;
}

bool is_splat(const Instruction& instruction) {
  return llvm::isa<llvm::ShuffleVectorInst>(instruction) && llvm::getSplatValue(&instruction);
}

// Whether the instruction only starts splats, which are made for each part directly.
bool leads_to_splats(const Instruction& instruction) {
  return llvm::isa<llvm::InsertElementInst>(instruction) &&
         llvm::all_of(instruction.users(), [&](const llvm::User* user) {
           const auto* next = llvm::dyn_cast<Instruction>(user);
           return next && next->getParent() == instruction.getParent() && is_splat(*next);
         });
}

// Whether each element of the result depends only on the same elements of the operands.
bool is_lane_by_lane(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) && call->doesNotAccessMemory();
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction))
    return cast->getSrcTy()->isVectorTy();
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
    return shuffle->isSelect();
  return llvm::isa<llvm::PHINode, llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst,
                   llvm::SelectInst, llvm::FreezeInst>(instruction);
}

// Whether the value puts two shorter vectors together.
bool is_join(const Value& value) {
  const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&value);
  return shuffle && shuffle->isConcat();
}

// The length of the longest vector that a vector is put together from.
unsigned longest_piece(const Value& value) {
  if (!is_join(value)) return length_of(*value.getType());
  const auto& join = *checked_cast<llvm::ShuffleVectorInst>(&value);
  return std::max(longest_piece(*join.getOperand(0)), longest_piece(*join.getOperand(1)));
}

bool must_not_repeat(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !load->isSimple();
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (call->isConvergent()) return true;
  }
  return instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects() ||
         llvm::isa<llvm::AllocaInst>(instruction);
}

struct Registers {
  unsigned count;
  unsigned bits;

  unsigned of(unsigned vector_bits) const { return (vector_bits + bits - 1) / bits; }
};

// Analyses a loop of one block: whether it can be split, and into how many parts.
class LoopForm {
 public:
  explicit LoopForm(BasicBlock& block) : block_(block) {}

  bool can_be_split() {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block_.getTerminator());
    if (!branch || !branch->isConditional() ||
        (branch->getSuccessor(0) == &block_) == (branch->getSuccessor(1) == &block_) ||
        !block_.hasNPredecessors(2)) {
      return false;
    }
    return llvm::all_of(block_, [&](Instruction& i) { return i.isTerminator() || accept(i); }) &&
           lanes_ > 1 && !sums_.empty();
  }

  unsigned lanes() const { return lanes_; }

  // How many loops to make; 1 if splitting does not pay, as each loop repeats the scalar work.
  unsigned parts(Registers registers) const {
    const unsigned smallest = *std::ranges::min_element(sums_);
    unsigned parts = 1;
    while (needed(registers, parts) > registers.count && lanes_ % (2 * parts) == 0 &&
           lanes_ / (2 * parts) >= longest_piece_ &&
           lanes_ / (2 * parts) * smallest >= registers.bits) {
      parts *= 2;
    }
    // A vector without a register is loaded and stored in every iteration.
    return (parts - 1) * scalars_ <= 2 * without_register(registers) ? parts : 1;
  }

 private:
  bool accept(Instruction& instruction) {
    if (is_prefetch(instruction)) return true;
    if (must_not_repeat(instruction)) return false;
    const unsigned length = length_of(*instruction.getType());
    if (length == 1) {
      scalars_ += llvm::isa<llvm::LoadInst, llvm::BinaryOperator, llvm::CmpInst, llvm::CallBase>(
          instruction);
      return llvm::all_of(instruction.operands(),
                          [](Value* operand) { return length_of(*operand->getType()) == 1; });
    }
    if (length == 0) return false;
    if (!fits(length)) return accept_other(instruction);
    if (is_splat(instruction) || leads_to_splats(instruction)) {
      has_splats_ = true;
      return true;
    }
    if (is_join(instruction)) return accept_join(instruction);
    const unsigned bits = instruction.getType()->getScalarSizeInBits();
    if (llvm::isa<llvm::LoadInst>(instruction)) return bits % 8 == 0 && bits > 0;
    if (llvm::isa<llvm::PHINode>(instruction)) {
      if (bits < 8) return false;  // a mask
      sums_.push_back(bits);
    }
    return is_lane_by_lane(instruction) &&
           llvm::all_of(instruction.operands(), [&](Value* operand) {
             const unsigned size = length_of(*operand->getType());
             return size == 1 || (size != 0 && fits(size));
           });
  }

  // A vector that has no element for each lane, such as a piece of a lane's row. It must not depend
  // on vectors of lanes; loops that need it compute it as a whole.
  bool accept_other(const Instruction& instruction) {
    return !llvm::isa<llvm::PHINode>(instruction) &&
           llvm::all_of(instruction.operands(), [&](const Value* operand) {
             const unsigned size = length_of(*operand->getType());
             return size == 1 || (size != 0 && size != lanes_) ||
                    llvm::isa<llvm::Constant>(operand);
           });
  }

  bool accept_join(const Instruction& join) {
    joined_.push_back(join.getType()->getScalarSizeInBits());
    longest_piece_ = std::max(longest_piece_, longest_piece(join));
    return true;
  }

  bool fits(unsigned length) {
    if (lanes_ == 1) lanes_ = length;
    return lanes_ == length;
  }

  // The registers for the sums, and for the two factors of a product.
  unsigned needed(Registers registers, unsigned parts) const {
    unsigned result = 1 + registers.of(lanes_ / parts * *std::ranges::max_element(sums_));
    for (unsigned bits : sums_) result += registers.of(lanes_ / parts * bits);
    return result + of_rows(registers, parts);
  }

  // What lanes read of their rows, after it was transposed. If all lanes use the same splats, LLVM
  // uses each splat for all of them at a time, so that all of what they read is there at once.
  unsigned of_rows(Registers registers, unsigned parts) const {
    if (!has_splats_) return 0;
    unsigned result = 0;
    for (unsigned bits : joined_) result += registers.of(lanes_ / parts * bits);
    return result;
  }

  // The vectors that have no register. LLVM transposes the rows of all lanes at once, so if there
  // are too few registers, about half of what was read waits in memory.
  unsigned without_register(Registers registers) const {
    const unsigned wanted = needed(registers, 1);
    if (wanted <= registers.count) return 0;
    return std::max(wanted - registers.count, of_rows(registers, 1) / 2);
  }

  BasicBlock& block_;
  unsigned lanes_ = 1;
  unsigned scalars_ = 0;                // instructions that every loop repeats
  llvm::SmallVector<unsigned> sums_;    // for each loop-carried vector, the bits of its elements
  llvm::SmallVector<unsigned> joined_;  // the same for vectors that others are joined to
  unsigned longest_piece_ = 1;          // of these
  bool has_splats_ = false;
};

// Makes a loop for each part.
class LoopSplitter {
 public:
  LoopSplitter(BasicBlock& block, unsigned lanes, unsigned parts)
      : block_(block),
        parts_(parts),
        lanes_(lanes),
        before_(*llvm::find_if(llvm::predecessors(&block),
                               [&](BasicBlock* other) { return other != &block; })),
        outside_(before_->getTerminator()),
        prefetches_(static_cast<unsigned>(llvm::count_if(block, is_prefetch))),
        copies_(parts),
        slices_(parts) {}

  void run() {
    auto& function = *block_.getParent();
    for (unsigned part = 0; part <= parts_; ++part) {
      const char* name = part < parts_ ? ".part" : ".whole";
      blocks_.push_back(
          BasicBlock::Create(block_.getContext(), block_.getName() + name, &function, &block_));
    }
    for (unsigned part = 0; part < parts_; ++part) make_loop(part);
    for (llvm::PHINode& phi : block_.phis()) add_incoming(phi);
    join();
    before_->getTerminator()->replaceSuccessorWith(&block_, blocks_[0]);
    for (Instruction& instruction : block_)
      instruction.replaceAllUsesWith(llvm::PoisonValue::get(instruction.getType()));
    block_.eraseFromParent();
    for (BasicBlock* block : blocks_) remove_unneeded(*block);
  }

 private:
  // The pieces of other parts' vectors, for example.
  static void remove_unneeded(BasicBlock& block) {
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
    }
  }

  bool is_inside(const Value* value) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    return instruction && instruction->getParent() == &block_;
  }

  Type* part_of(Type* type) const {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector) return type;
    return llvm::FixedVectorType::get(vector->getElementType(), vector->getNumElements() / parts_);
  }

  // The part of a vector from outside, which is extracted before the loops.
  Value* operand(Value* value, unsigned part) {
    if (is_inside(value)) return copies_[part].lookup(value);
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (!type) return value;
    Value*& slice = slices_[part][value];
    if (!slice) {
      const unsigned length = type->getNumElements() / parts_;
      slice =
          outside_.CreateShuffleVector(value, llvm::createSequentialMask(part * length, length, 0));
    }
    return slice;
  }

  void make_loop(unsigned part) {
    llvm::IRBuilder<> b(blocks_[part]);
    unsigned prefetches = 0;
    for (Instruction& instruction : block_) {
      if (leads_to_splats(instruction)) continue;
      // Each loop makes some of the prefetches, as memory should work all the time.
      if (is_prefetch(instruction) && prefetches++ * parts_ / prefetches_ != part) continue;
      copies_[part][&instruction] = copy(b, instruction, part);
    }
    Instruction* end = blocks_[part]->getTerminator();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      end->setSuccessor(i, end->getSuccessor(i) == &block_ ? blocks_[part] : blocks_[part + 1]);
    }
  }

  bool has_lanes(const Value& value) const { return length_of(*value.getType()) == lanes_; }

  Value* copy(llvm::IRBuilder<>& b, Instruction& instruction, unsigned part) {
    if (instruction.getType()->isVectorTy() && !has_lanes(instruction))
      return copy_whole(b, instruction, part);
    if (is_join(instruction)) return piece(b, &instruction, part * (lanes_ / parts_), part);
    if (is_splat(instruction)) {
      const auto* type = checked_cast<llvm::FixedVectorType>(part_of(instruction.getType()));
      return b.CreateVectorSplat(type->getNumElements(),
                                 operand(llvm::getSplatValue(&instruction), part));
    }
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return copy(b, *call, part);
    if (auto* choice = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
      return copy(b, *choice, part);
    Instruction* result = b.Insert(instruction.clone(), instruction.getName());
    result->mutateType(part_of(instruction.getType()));
    if (llvm::isa<llvm::PHINode>(instruction)) return result;
    for (llvm::Use& use : result->operands()) {
      if (!llvm::isa<BasicBlock>(use)) use = operand(use, part);
    }
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(result)) move(*load, part);
    return result;
  }

  // The elements of a part from `first` on, of what a vector is put together from.
  Value* piece(llvm::IRBuilder<>& b, Value* value, unsigned first, unsigned part) {
    while (is_join(*value)) {
      auto* join = checked_cast<llvm::ShuffleVectorInst>(value);
      const unsigned length = length_of(*join->getOperand(0)->getType());
      if (length < lanes_ / parts_) break;  // the part is several pieces
      value = join->getOperand(first < length ? 0 : 1);
      first %= length;
    }
    if (is_inside(value)) value = copies_[part].lookup(value);
    const unsigned length = lanes_ / parts_;
    if (length_of(*value->getType()) == length) return value;
    return b.CreateShuffleVector(value, llvm::createSequentialMask(first, length, 0));
  }

  Value* copy_whole(llvm::IRBuilder<>& b, Instruction& instruction, unsigned part) {
    Instruction* result = b.Insert(instruction.clone(), instruction.getName());
    for (llvm::Use& use : result->operands()) {
      if (is_inside(use)) use = copies_[part].lookup(use);
    }
    return result;
  }

  Value* copy(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call, unsigned part) {
    llvm::SmallVector<Type*> types;
    if (!llvm::Intrinsic::getIntrinsicSignature(call.getCalledFunction(), types))
      internal_error("an intrinsic has no signature");
    for (Type*& type : types) type = part_of(type);
    llvm::SmallVector<Value*> arguments;
    for (Value* argument : call.args()) arguments.push_back(operand(argument, part));
    llvm::CallInst* result = b.CreateIntrinsic(call.getIntrinsicID(), types, arguments);
    result->copyIRFlags(&call);
    return result;
  }

  // A shuffle of two vectors often selects a whole part of one.
  Value* copy(llvm::IRBuilder<>& b, llvm::ShuffleVectorInst& choice, unsigned part) {
    Value* vectors[] = {operand(choice.getOperand(0), part), operand(choice.getOperand(1), part)};
    const size_t size = choice.getShuffleMask().size() / parts_;
    const int lanes = static_cast<int>(choice.getShuffleMask().size());
    const int length = static_cast<int>(size);
    llvm::SmallVector<int> mask;
    for (int lane : choice.getShuffleMask().slice(part * size, size)) {
      const int place = static_cast<int>(mask.size());
      mask.push_back(lane < 0 ? lane : lane < lanes ? place : length + place);
    }
    if (llvm::all_of(mask, [&](int lane) { return lane < length; })) return vectors[0];
    if (llvm::all_of(mask, [&](int lane) { return lane < 0 || lane >= length; })) return vectors[1];
    return b.CreateShuffleVector(vectors[0], vectors[1], mask);
  }

  // Moves the address to the elements of this part.
  void move(llvm::LoadInst& load, unsigned part) const {
    if (!load.getType()->isVectorTy() || part == 0) return;
    llvm::IRBuilder<> b(&load);
    const uint64_t offset = load.getType()->getPrimitiveSizeInBits().getFixedValue() / 8 * part;
    load.setOperand(0, b.CreatePtrAdd(load.getPointerOperand(), b.getInt64(offset)));
    load.setAlignment(llvm::commonAlignment(load.getAlign(), offset));
  }

  void add_incoming(llvm::PHINode& phi) {
    for (unsigned part = 0; part < parts_; ++part) {
      auto& copy = *checked_cast<llvm::PHINode>(copies_[part][&phi]);
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        const bool again = phi.getIncomingBlock(i) == &block_;
        copy.setIncomingValue(i, operand(phi.getIncomingValue(i), part));
        copy.setIncomingBlock(i, again ? blocks_[part] : part == 0 ? before_ : blocks_[part - 1]);
      }
    }
  }

  // Concatenates the parts of vectors that are used after the loop.
  void join() {
    BasicBlock* whole = blocks_.back();
    llvm::IRBuilder<> b(whole);
    for (Instruction& instruction : block_) {
      if (llvm::all_of(instruction.users(), [&](llvm::User* user) { return is_inside(user); }))
        continue;
      Value* result = copies_.back().lookup(&instruction);
      if (instruction.getType()->isVectorTy()) {
        llvm::SmallVector<Value*> vectors;
        for (auto& copies : copies_) vectors.push_back(copies.lookup(&instruction));
        result = llvm::concatenateVectors(b, vectors);
      }
      instruction.replaceUsesOutsideBlock(result, &block_);
    }
    for (BasicBlock* next : llvm::successors(&block_)) {
      if (next == &block_) continue;
      b.CreateBr(next);
      next->replacePhiUsesWith(&block_, whole);
    }
  }

  BasicBlock& block_;
  unsigned parts_;
  unsigned lanes_;
  BasicBlock* before_;
  llvm::IRBuilder<> outside_;
  unsigned prefetches_;
  llvm::SmallVector<BasicBlock*> blocks_;  // the loops, and one block after them
  std::vector<llvm::DenseMap<Value*, Value*>> copies_;
  std::vector<llvm::DenseMap<Value*, Value*>> slices_;
};

}  // namespace

void split_loops(llvm::Module& module, llvm::TargetMachine& target) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::TargetTransformInfo info = target.getTargetTransformInfo(function);
    const Registers registers{
        info.getNumberOfRegisters(info.getRegisterClassForType(/*Vector=*/true)),
        static_cast<unsigned>(
            info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
                .getFixedValue())};
    struct Found {
      BasicBlock* block;
      unsigned lanes;
      unsigned parts;
    };
    llvm::SmallVector<Found> found;
    for (BasicBlock& block : function) {
      LoopForm form(block);
      if (!form.can_be_split()) continue;
      if (const unsigned parts = form.parts(registers); parts > 1)
        found.push_back({&block, form.lanes(), parts});
    }
    for (const auto& [block, lanes, parts] : found) LoopSplitter(*block, lanes, parts).run();
  }
}

}  // namespace metal::cpu
