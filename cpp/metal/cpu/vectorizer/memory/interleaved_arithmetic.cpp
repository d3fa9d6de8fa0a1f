#include "metal/cpu/vectorizer/memory/interleaved_arithmetic.h"

#include <map>
#include <vector>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Constant;
using llvm::Instruction;
using llvm::Value;

using Parts = std::vector<Value*>;  // the vectors of a thread's first element, its second, ...

constexpr unsigned kMaxParts = 8;
constexpr size_t kMaxOperations = 200;  // of one part

unsigned lanes_of(const Value* vector) {
  return checked_cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

// Where an element of a vector comes from, behind all shuffles.
struct Element {
  Value* vector;
  int lane;  // negative if any value will do
};

Element origin(Value* vector, int lane) {
  while (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
    lane = shuffle->getMaskValue(static_cast<unsigned>(lane));
    if (lane < 0) break;
    const int first = static_cast<int>(lanes_of(shuffle->getOperand(0)));
    vector = shuffle->getOperand(lane < first ? 0 : 1);
    if (lane >= first) lane -= first;
  }
  return {vector, lane};
}

// The parts that the shuffle interleaves, if it does so.
Parts find_parts(llvm::ShuffleVectorInst& shuffle) {
  const unsigned count = lanes_of(&shuffle);
  Parts parts;
  for (unsigned i = 0; i < count && i < kMaxParts; ++i) {
    const Element element = origin(&shuffle, static_cast<int>(i));
    if (element.lane != 0 || llvm::is_contained(parts, element.vector)) break;
    parts.push_back(element.vector);
  }
  const auto members = static_cast<unsigned>(parts.size());
  if (members < 2 || count % members != 0) return {};
  for (unsigned i = 0; i < count; ++i) {
    const Element element = origin(&shuffle, static_cast<int>(i));
    if (element.vector != parts[i % members] || element.lane != static_cast<int>(i / members))
      return {};
  }
  return lanes_of(parts[0]) == count / members ? parts : Parts{};
}

// The block that the parts take apart: part k has its elements k, k + members, ...
Value* find_block(const Parts& parts) {
  const auto members = static_cast<int>(parts.size());
  Value* block = nullptr;
  for (const auto& [k, part] : llvm::enumerate(parts)) {
    for (unsigned lane = 0; lane < lanes_of(part); ++lane) {
      const Element element = origin(part, static_cast<int>(lane));
      if (!block) block = element.vector;
      if (element.vector != block || element.vector == part ||
          element.lane != static_cast<int>(lane) * members + static_cast<int>(k))
        return nullptr;
    }
  }
  return lanes_of(block) == lanes_of(parts[0]) * parts.size() ? block : nullptr;
}

bool works_on_elements(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction))
    return cast->getSrcTy()->isVectorTy() && lanes_of(cast->getOperand(0)) == lanes_of(cast);
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                   llvm::SelectInst>(instruction);
}

// The operations of parts that are alike, from the interleaved results back to the blocks.
class Chain {
 public:
  Chain(Parts parts, Instruction& end)
      : members_(parts.size()), end_(end), results_(std::move(parts)) {}

  bool collect() { return add(results_) && !operations_.empty() && keeps_to_itself(); }

  // The results in the order of memory, computed in front of the shuffle. As many vectors as there
  // are parts, one after the other: all at once would need too many registers.
  Value* build() {
    llvm::IRBuilder<> b(&end_);
    llvm::SmallVector<Value*> pieces;
    for (unsigned piece = 0; piece < members_; ++piece) {
      built_.clear();
      pieces.push_back(build_piece(b, results_, piece));
    }
    return llvm::concatenateVectors(b, pieces);
  }

  const Parts& results() const { return results_; }

 private:
  bool add(const Parts& parts) {
    if (leaf_.contains(parts)) return true;
    if (is_leaf(parts)) return leaf_[parts] = true;
    const auto* model = llvm::dyn_cast<Instruction>(parts[0]);
    if (!model || !works_on_elements(*model) || operations_.size() >= kMaxOperations * members_)
      return false;
    for (Value* part : parts) {
      auto* operation = llvm::dyn_cast<Instruction>(part);
      if (!operation || operation->getParent() != end_.getParent() ||
          !operation->isSameOperationAs(model, Instruction::CompareUsingScalarTypes) ||
          operation->getType() != model->getType())
        return false;
      operations_.insert(operation);
    }
    leaf_[parts] = false;
    for (unsigned i = 0; i < model->getNumOperands(); ++i) {
      if (!add(operands(parts, i))) return false;
    }
    return true;
  }

  static Parts operands(const Parts& parts, unsigned i) {
    Parts found;
    for (Value* part : parts) found.push_back(checked_cast<Instruction>(part)->getOperand(i));
    return found;
  }

  // Whether the parts' elements in the order of memory take at most one shuffle.
  static bool is_leaf(const Parts& parts) {
    const bool constant = llvm::all_of(parts, [](auto* part) { return llvm::isa<Constant>(part); });
    if (!parts[0]->getType()->isVectorTy()) return llvm::all_equal(parts);
    return constant || llvm::all_equal(parts) || find_block(parts);
  }

  // Whether nothing else needs the operations: they would be computed twice. What uses the results
  // elsewhere takes them from the new ones.
  bool keeps_to_itself() const {
    for (Instruction* operation : operations_) {
      if (llvm::is_contained(results_, operation)) continue;
      for (llvm::User* user : operation->users()) {
        if (!operations_.contains(checked_cast<Instruction>(user))) return false;
      }
    }
    return true;
  }

  Value* build_piece(llvm::IRBuilder<>& b, const Parts& parts, unsigned piece) {
    if (const auto found = built_.find(parts); found != built_.end()) return found->second;
    auto* operation = llvm::dyn_cast<Instruction>(parts[0]);
    Value* built;
    if (leaf_.at(parts)) {
      built = leaf_piece(b, parts, piece);
    } else {
      auto* copy = operation->clone();
      for (unsigned i = 0; i < copy->getNumOperands(); ++i)
        copy->setOperand(i, build_piece(b, operands(parts, i), piece));
      for (Value* part : llvm::drop_begin(parts)) copy->andIRFlags(part);
      built = b.Insert(copy, operation->getName());
    }
    return built_[parts] = built;
  }

  Value* leaf_piece(llvm::IRBuilder<>& b, const Parts& parts, unsigned piece) {
    if (!parts[0]->getType()->isVectorTy()) return parts[0];
    const unsigned lanes = lanes_of(parts[0]);
    const unsigned first = piece * lanes;
    if (llvm::all_equal(parts)) {
      if (llvm::getSplatValue(parts[0])) return parts[0];
      llvm::SmallVector<int> mask;
      for (unsigned i = 0; i < lanes; ++i) mask.push_back(static_cast<int>((first + i) / members_));
      return b.CreateShuffleVector(parts[0], mask);
    }
    if (Value* block = find_block(parts))
      return b.CreateShuffleVector(block, llvm::createSequentialMask(first, lanes, 0));
    llvm::SmallVector<Constant*> elements;
    for (unsigned i = 0; i < lanes; ++i) {
      const auto place = static_cast<unsigned>(first + i);
      elements.push_back(checked_cast<Constant>(parts[place % members_])
                             ->getAggregateElement(static_cast<unsigned>(place / members_)));
    }
    return llvm::ConstantVector::get(elements);
  }

  size_t members_;
  Instruction& end_;
  Parts results_;
  std::map<Parts, bool> leaf_;  // of what is collected: whether it is a leaf
  llvm::SmallPtrSet<Instruction*, 32> operations_;
  std::map<Parts, Value*> built_;  // of the current piece
};

// What else uses the parts takes them out of the interleaved results.
void replace_parts(const Chain& chain, llvm::ShuffleVectorInst& end, Value* interleaved) {
  const Parts& parts = chain.results();
  end.replaceAllUsesWith(interleaved);
  llvm::IRBuilder<> b(&end);
  for (const auto& [k, part] : llvm::enumerate(parts)) {
    Value* taken = b.CreateShuffleVector(
        interleaved, llvm::createStrideMask(static_cast<unsigned>(k),
                                            static_cast<unsigned>(parts.size()), lanes_of(part)));
    part->replaceUsesWithIf(taken, [&](const llvm::Use& use) {
      const auto* user = checked_cast<Instruction>(use.getUser());
      return user->getParent() != end.getParent() || end.comesBefore(user);
    });
  }
}

bool is_stored(const llvm::ShuffleVectorInst& shuffle) {
  return llvm::any_of(shuffle.users(), [&](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store && store->getValueOperand() == &shuffle;
  });
}

}  // namespace

llvm::PreservedAnalyses InterleavedArithmeticPass::run(llvm::Function& wide,
                                                       llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::ShuffleVectorInst*> ends;
  for (Instruction& instruction : llvm::instructions(wide)) {
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (shuffle && is_stored(*shuffle)) ends.push_back(shuffle);
  }
  bool changed = false;
  for (llvm::ShuffleVectorInst* end : ends) {
    Parts parts = find_parts(*end);
    if (parts.empty()) continue;
    Chain chain(std::move(parts), *end);
    if (!chain.collect()) continue;
    replace_parts(chain, *end, chain.build());
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace metal::cpu
