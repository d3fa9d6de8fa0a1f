#include "metal/cpu/vectorizer/control/descending_barriers.h"

#include <cstdlib>
#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/barriers.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr int64_t kMostBytes = int64_t{1} << 31;  // of an element, or before it

// What a thread accesses: bytes from `first` to before `end` behind `base`, counted from those of
// its element, which has `scale * x` bytes before it. An access before that has only an end.
struct Place {
  const Value* base = nullptr;
  int64_t scale = 0;
  std::optional<int64_t> first;
  int64_t end = 0;
};

class BarrierSearch {
 public:
  explicit BarrierSearch(llvm::Function& body)
      : x_(body.getArg(kXArgument)),
        index_(body.getArg(kIndexArgument)),
        layout_(body.getParent()->getDataLayout()) {
    for (Instruction& instruction : llvm::instructions(body))
      if (compiler::is_threadgroup_barrier(instruction)) barriers_.push_back(&instruction);
  }

  // Each barrier is looked at with those before it already marked, which end nothing.
  void run() {
    for (Instruction* barrier : barriers_)
      if (is_needless(*barrier)) mark_descending(*barrier);
  }

 private:
  using Accesses = llvm::SmallSetVector<const Instruction*, 8>;

  bool is_needless(const Instruction& barrier) const {
    Accesses before, after;
    if (!collect_before(barrier, before) || !collect_after(barrier, after)) return false;
    return llvm::all_of(before, [&](const Instruction* first) {
      return llvm::all_of(after, [&](const Instruction* second) { return apart(*first, *second); });
    });
  }

  static bool ends(const Instruction& instruction) {
    return compiler::is_threadgroup_barrier(instruction) && !is_descending(instruction);
  }

  // False if the instruction touches memory in a way that is not looked at. A thread's variables
  // are its own.
  static bool add(const Instruction& instruction, Accesses& accesses) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (compiler::is_threadgroup_barrier(instruction) || !instruction.mayReadOrWriteMemory() ||
        (call && call->isAssumeLikeIntrinsic()) || reads_constants(instruction))
      return true;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!(load && load->isSimple()) && !(store && store->isSimple())) return false;
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address))) return true;
    accesses.insert(&instruction);
    return true;
  }

  // False if a way from the start of the kernel has no other barrier.
  static bool collect_before(const Instruction& barrier, Accesses& accesses) {
    llvm::SmallSetVector<const Instruction*, 8> work;  // whose predecessors are looked at
    work.insert(&barrier);
    for (size_t i = 0; i < work.size(); ++i) {
      const Instruction* at = work[i]->getPrevNode();
      for (; at && !ends(*at); at = at->getPrevNode())
        if (!add(*at, accesses)) return false;
      if (at) continue;
      const BasicBlock* block = work[i]->getParent();
      if (block->isEntryBlock()) return false;
      for (const BasicBlock* from : llvm::predecessors(block)) {
        const Instruction* end = from->getTerminator();
        if (!add(*end, accesses)) return false;
        work.insert(end);
      }
    }
    return true;
  }

  static bool collect_after(const Instruction& barrier, Accesses& accesses) {
    llvm::SmallSetVector<const Instruction*, 8> work;  // that are looked at, with those behind them
    work.insert(barrier.getNextNode());
    for (size_t i = 0; i < work.size(); ++i) {
      const Instruction* at = work[i];
      for (; at && !ends(*at); at = at->getNextNode())
        if (!add(*at, accesses)) return false;
      if (at) continue;
      for (const BasicBlock* next : llvm::successors(work[i]->getParent()))
        work.insert(&next->front());
    }
    return true;
  }

  // Whether what a thread accesses first is not what one behind it accesses second.
  bool apart(const Instruction& first, const Instruction& second) const {
    if (!first.mayWriteToMemory() && !second.mayWriteToMemory()) return true;
    const Value* one = llvm::getLoadStorePointerOperand(&first);
    const Value* other = llvm::getLoadStorePointerOperand(&second);
    if (is_shared_memory(*one) && is_shared_memory(*other) && one->getType() != other->getType())
      return true;
    const auto before = place_of(*one, first), after = place_of(*other, second);
    return before && after && after->first && before->base == after->base &&
           before->scale == after->scale && before->end - before->scale <= *after->first;
  }

  // Memory of the threadgroup and of the device are apart.
  static bool is_shared_memory(const Value& address) {
    const unsigned space = address.getType()->getPointerAddressSpace();
    return space == kThreadgroupMemory || is_device_memory(&address);
  }

  std::optional<Place> place_of(const Value& address, const Instruction& access) const {
    Place place;
    int64_t offset = 0;
    bool before = false;
    const Value* at = &address;
    while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(at)) {
      const unsigned bits = layout_.getIndexTypeSizeInBits(step->getType());
      llvm::MapVector<Value*, llvm::APInt> variable;
      llvm::APInt constant(bits, 0);
      if (!step->collectOffset(layout_, bits, variable, constant)) return std::nullopt;
      offset += constant.getSExtValue();
      for (const auto& [index, size] : variable) {
        if (place.scale != 0 || !size.isStrictlyPositive()) return std::nullopt;
        before = !is_own(*index);
        if (before && !is_before_own(*index, access)) return std::nullopt;
        place.scale = size.getSExtValue();
      }
      at = step->getPointerOperand();
    }
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
    llvm::Type* type = store ? store->getValueOperand()->getType() : access.getType();
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(type).getFixedValue());
    if (place.scale == 0 || place.scale > kMostBytes || std::abs(offset) > kMostBytes ||
        !is_of_threadgroup(*at))
      return std::nullopt;
    place.base = at;
    place.end = offset + size;
    if (!before) place.first = offset;
    return place;
  }

  // Whether the value is one for all threads, whenever they compute it.
  static bool is_of_threadgroup(const Value& value) {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return argument->getArgNo() == kGroupArgument;
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction || !(llvm::isa<llvm::CastInst, llvm::GetElementPtrInst>(instruction) ||
                          reads_constants(*instruction)))
      return false;
    return llvm::all_of(instruction->operands(), [](const llvm::Use& operand) {
      return llvm::isa<llvm::Constant>(operand) || is_of_threadgroup(*operand);
    });
  }

  bool is_x(const Value& value) const { return &value == x_ || &value == index_; }

  // Positions in a threadgroup are small, so either extension keeps them.
  bool is_own(const Value& index) const {
    using namespace llvm::PatternMatch;
    Value* narrow = nullptr;
    return is_x(index) || (match(&index, m_ZExtOrSExt(m_Value(narrow))) && is_x(*narrow));
  }

  // Whether the index is x minus a number that is at most x where the access runs.
  bool is_before_own(const Value& index, const Instruction& access) const {
    using namespace llvm::PatternMatch;
    Value *x = nullptr, *less = nullptr;
    const llvm::APInt* constant = nullptr;
    if (match(&index, m_ZExtOrSExt(m_Add(m_Value(x), m_APInt(constant)))))
      less = llvm::ConstantInt::get(x->getType(), -*constant);
    else if (!match(&index, m_ZExtOrSExt(m_Sub(m_Value(x), m_Value(less)))))
      return false;
    return is_x(*x) &&
           llvm::isImpliedByDomCondition(llvm::CmpInst::ICMP_UGE, x, less, &access, layout_)
               .value_or(false);
  }

  // Both are the same for a threadgroup of one row, and only there the marks are used.
  const Value *x_, *index_;
  const llvm::DataLayout& layout_;
  llvm::SmallVector<Instruction*> barriers_;
};

}  // namespace

void mark_descending_barriers(llvm::Function& body) { BarrierSearch(body).run(); }

bool is_descending(const Instruction& barrier) { return barrier.hasMetadata(kDescending); }

void mark_descending(Instruction& barrier) {
  barrier.setMetadata(kDescending, llvm::MDNode::get(barrier.getContext(), {}));
}

}  // namespace metal::cpu
