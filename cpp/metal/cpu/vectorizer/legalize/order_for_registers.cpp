#include "metal/cpu/vectorizer/legalize/order_for_registers.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/live_vectors.h"
#include "metal/cpu/vectorizer/legalize/split_operations.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

using Instructions = llvm::SmallVector<Instruction*>;

constexpr size_t kMostAtOnce = 64;      // pieces of results
constexpr unsigned kManyUses = 17;      // of a value that stays in its register for long
constexpr size_t kLongestBlock = 5000;  // of a block

// Whether others keep their order to it.
bool is_fixed(const Instruction& instruction) {
  return llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator() ||
         instruction.mayHaveSideEffects();
}

// Instructions between two that are fixed.
class Segment {
 public:
  Segment(llvm::ArrayRef<Instruction*> instructions,
          llvm::function_ref<unsigned(const llvm::Value&)> registers)
      : instructions_(instructions), registers_(registers) {
    for (const auto& [i, instruction] : llvm::enumerate(instructions)) place_[instruction] = i;
    for (Instruction* instruction : instructions) need_[instruction] = need_of(*instruction);
  }

  // Computes so many pieces of the results at once, which are what is used elsewhere.
  Instructions in_order(size_t at_once) {
    const Instructions pieces = pieces_of_results();
    for (size_t first = 0; first < pieces.size(); first += at_once) {
      const size_t count = std::min(at_once, pieces.size() - first);
      if (count == 1) {
        add(*pieces[first]);
      } else {
        add_as_they_are(llvm::ArrayRef(pieces).slice(first, count));
      }
    }
    for (Instruction* instruction : instructions_) add(*instruction);
    return std::move(ordered_);
  }

 private:
  // Those of the segment, first those with the most registers besides that of the result.
  Instructions operands_of(const Instruction& instruction) const {
    Instructions operands;
    for (llvm::Value* operand : instruction.operands()) {
      auto* known = llvm::dyn_cast<Instruction>(operand);
      if (known && place_.contains(known) && !llvm::is_contained(operands, known))
        operands.push_back(known);
    }
    llvm::stable_sort(operands, [&](const Instruction* a, const Instruction* b) {
      return spare(*a) > spare(*b);
    });
    return operands;
  }

  // The first pieces of all results, then the second ones: what the same lanes of several results
  // share is in registers for all of them.
  Instructions pieces_of_results() const {
    llvm::SmallVector<Instructions> of_results;
    size_t most = 0;
    for (Instruction* instruction : instructions_) {
      if (!is_result(*instruction)) continue;
      of_results.emplace_back();
      append_pieces(*instruction, of_results.back());
      most = std::max(most, of_results.back().size());
    }
    Instructions pieces;
    for (size_t i = 0; i < most; ++i)
      for (const Instructions& of_result : of_results)
        if (i < of_result.size()) pieces.push_back(of_result[i]);
    return pieces;
  }

  void append_pieces(Instruction& instruction, Instructions& pieces) const {
    const auto* joined = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    const Instructions operands =
        joined && joined->isConcat() ? operands_of(instruction) : Instructions();
    if (operands.size() != 2) return pieces.push_back(&instruction);
    for (llvm::Value* operand : joined->operands())
      append_pieces(*checked_cast<Instruction>(operand), pieces);
  }

  bool is_result(const Instruction& instruction) const {
    return llvm::none_of(instruction.users(), [&](const llvm::User* user) {
      return place_.contains(checked_cast<Instruction>(user));
    });
  }

  // What the results need, in the order that it has.
  void add_as_they_are(llvm::ArrayRef<Instruction*> results) {
    const size_t before = ordered_.size();
    Instructions next(results);
    while (!next.empty()) {
      Instruction* instruction = next.pop_back_val();
      if (!added_.insert(instruction).second) continue;
      ordered_.push_back(instruction);
      llvm::append_range(next, operands_of(*instruction));
    }
    llvm::sort(ordered_.begin() + before, ordered_.end(),
               [&](const Instruction* a, const Instruction* b) {
                 return place_.lookup(a) < place_.lookup(b);
               });
  }

  unsigned spare(const Instruction& instruction) const {
    return need_.lookup(&instruction) - registers_(instruction);
  }

  unsigned need_of(const Instruction& instruction) const {
    unsigned held = 0, most = registers_(instruction);
    for (const Instruction* operand : operands_of(instruction)) {
      most = std::max(most, held + need_.lookup(operand));
      held += registers_(*operand);
    }
    return most;
  }

  void add(Instruction& instruction) {
    if (added_.contains(&instruction)) return;
    for (Instruction* operand : operands_of(instruction)) add(*operand);
    if (!added_.insert(&instruction).second) return;
    ordered_.push_back(&instruction);
    for (Instruction* operand : operands_of(instruction)) add_last_user(*operand);
  }

  // An instruction that alone still needs its operands, and whose result takes no more registers
  // than they do, may come at once.
  void add_last_user(const Instruction& value) {
    Instruction* user = registers_(value) ? only_user_left(value) : nullptr;
    if (!user) return;
    unsigned freed = 0;
    for (const Instruction* operand : operands_of(*user)) {
      if (!added_.contains(operand)) return;
      if (only_user_left(*operand) == user) freed += registers_(*operand);
    }
    if (registers_(*user) <= freed) add(*user);
  }

  // Null if there are several, or one outside of the segment, or if it is not worth a search.
  Instruction* only_user_left(const Instruction& value) const {
    if (value.hasNUsesOrMore(kManyUses)) return nullptr;
    Instruction* left = nullptr;
    for (const llvm::User* user : value.users()) {
      auto* instruction = const_cast<Instruction*>(checked_cast<Instruction>(user));
      if (added_.contains(instruction)) continue;
      if (!place_.contains(instruction) || (left && left != instruction)) return nullptr;
      left = instruction;
    }
    return left;
  }

  llvm::ArrayRef<Instruction*> instructions_;
  llvm::function_ref<unsigned(const llvm::Value&)> registers_;
  llvm::DenseMap<const Instruction*, size_t> place_;
  llvm::DenseMap<const Instruction*, unsigned> need_;
  llvm::DenseSet<const Instruction*> added_;
  Instructions ordered_;
};

class BlockOrder {
 public:
  BlockOrder(const llvm::Function& function, const VectorRegisters& available)
      : live_(function), available_(available) {}

  // Where a few registers are missing, an order that keeps what is independent together is worth
  // more; and only what is read from memory loses nothing if it comes later. Code with prefetches
  // reads memory in an order that processors follow.
  bool is_needed(const BasicBlock& block) const {
    if (block.size() > kLongestBlock || llvm::any_of(block, is_prefetch)) return false;
    const unsigned live = most_live(block);
    return live > available_.count + available_.count / 8 && 2 * most_read(block) > live;
  }

  void run(BasicBlock& block) {
    Instructions original;
    for (Instruction& instruction : block) original.push_back(&instruction);
    unsigned best = most_live(block);
    Instructions best_order = original;
    for (size_t at_once = kMostAtOnce; at_once > 0 && best > available_.count; at_once /= 2) {
      const Instructions order = ordered(original, at_once);
      arrange(block, order);
      const unsigned live = most_live(block);
      if (live >= best) continue;
      best = live;
      best_order = order;
    }
    arrange(block, best_order);
  }

 private:
  unsigned registers(const llvm::Value& value) const {
    const uint64_t bits = value.getType()->isVectorTy()
                              ? value.getType()->getPrimitiveSizeInBits().getFixedValue()
                              : 0;
    return static_cast<unsigned>((bits + available_.bits - 1) / available_.bits);
  }

  unsigned most_live(const BasicBlock& block) const {
    return live_.most(block.front(), block.back(),
                      [&](const llvm::Value& value) { return registers(value); });
  }

  unsigned most_read(const BasicBlock& block) const {
    return live_.most(block.front(), block.back(), [&](const llvm::Value& value) {
      return is_read(value) ? registers(value) : 0;
    });
  }

  // Whether the vector comes from memory, and only its elements moved since.
  bool is_read(const llvm::Value& value) const {
    if (llvm::isa<llvm::LoadInst, llvm::PoisonValue>(value)) return true;
    const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&value);
    if (!shuffle) return false;
    const auto known = reads_.find(shuffle);
    if (known != reads_.end()) return known->second;
    const bool result = is_read(*shuffle->getOperand(0)) && is_read(*shuffle->getOperand(1));
    return reads_[shuffle] = result;
  }

  Instructions ordered(llvm::ArrayRef<Instruction*> original, size_t at_once) const {
    Instructions result;
    const auto* start = original.begin();
    while (start != original.end()) {
      const auto* end =
          std::find_if(start, original.end(), [](const Instruction* i) { return is_fixed(*i); });
      const auto count = [&](const llvm::Value& value) { return registers(value); };
      llvm::append_range(result, Segment(llvm::ArrayRef(start, end), count).in_order(at_once));
      if (end != original.end()) result.push_back(*end++);
      start = end;
    }
    return result;
  }

  static void arrange(BasicBlock& block, llvm::ArrayRef<Instruction*> order) {
    for (Instruction* instruction : order) instruction->moveBefore(block, block.end());
  }

  LiveVectors live_;
  VectorRegisters available_;
  mutable llvm::DenseMap<const llvm::ShuffleVectorInst*, bool> reads_;
};

}  // namespace

void order_for_registers(llvm::Module& module, llvm::TargetMachine& target) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    VectorRegisters registers = vector_registers(function, target.getTargetTransformInfo(function));
    // LLVM may hold its cost model, but not its code, to half of AVX-512's registers.
    if (target.getTargetFeatureString().contains("+avx512f")) registers.bits = 512;
    llvm::SmallVector<BasicBlock*> blocks;
    const BlockOrder found(function, registers);
    for (BasicBlock& block : function)
      if (found.is_needed(block)) blocks.push_back(&block);
    if (blocks.empty()) continue;
    for (BasicBlock* block : blocks) split_operations(*block, registers.bits);
    BlockOrder order(function, registers);
    for (BasicBlock* block : blocks) order.run(*block);
    module.setModuleFlag(llvm::Module::Max, kOrdered, 1);
  }
}

}  // namespace metal::cpu
