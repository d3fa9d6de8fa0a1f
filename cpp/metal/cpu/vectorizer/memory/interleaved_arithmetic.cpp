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

// The vectors of a thread's first element, its second, and so on.
using Parts = std::vector<Value*>;
// As many vectors with the same elements in the order of memory.
using Ordered = std::vector<Value*>;

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

// The last one of parts that are in one block.
Instruction& last_of(const Parts& parts) {
  auto* last = checked_cast<Instruction>(parts[0]);
  for (Value* part : llvm::drop_begin(parts)) {
    auto* instruction = checked_cast<Instruction>(part);
    if (last->comesBefore(instruction)) last = instruction;
  }
  return *last;
}

bool works_on_elements(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID());
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction))
    return cast->getSrcTy()->isVectorTy() && lanes_of(cast->getOperand(0)) == lanes_of(cast);
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                   llvm::SelectInst, llvm::PHINode>(instruction);
}

// The operations of parts that are alike, from the interleaved results back to the blocks. They may
// be in several blocks of code, and loops may carry them.
class Chain {
 public:
  Chain(Parts parts, Instruction& end)
      : members_(parts.size()), end_(end), place_(&end), results_(std::move(parts)) {}

  bool collect() {
    if (!add(results_) || operations_.empty() || !keeps_to_itself()) return false;
    in_block_ = phis_.empty() && llvm::all_of(operations_, [&](const Instruction* operation) {
                  return operation->getParent() == end_.getParent();
                });
    if (in_block_) return true;
    Instruction& last = last_of(results_);
    place_ = llvm::isa<llvm::PHINode>(last) ? &*last.getParent()->getFirstInsertionPt()
                                            : last.getNextNode();
    return needs_no_shuffles() && llvm::all_of(results_, [&](const Value* result) {
             return llvm::all_of(result->users(), [&](const llvm::User* user) {
               return operations_.contains(checked_cast<Instruction>(user)) ||
                      comes_later(*checked_cast<Instruction>(user));
             });
           });
  }

  // Computes the results in the order of memory. What else uses them takes them out of these.
  void replace() {
    llvm::IRBuilder<> b(place_);
    Value* interleaved = llvm::concatenateVectors(b, in_block_ ? build_in_block(b) : build_all());
    end_.replaceAllUsesWith(interleaved);
    for (const auto& [k, part] : llvm::enumerate(results_)) {
      Value* taken = b.CreateShuffleVector(
          interleaved, llvm::createStrideMask(static_cast<unsigned>(k),
                                              static_cast<unsigned>(members_), lanes_of(part)));
      part->replaceUsesWithIf(taken, [&](const llvm::Use& use) {
        const auto* user = checked_cast<Instruction>(use.getUser());
        return !operations_.contains(user) && comes_later(*user);
      });
    }
  }

 private:
  bool add(const Parts& parts) {
    if (leaf_.contains(parts)) return true;
    if (is_leaf(parts)) return leaf_[parts] = true;
    const auto* model = llvm::dyn_cast<Instruction>(parts[0]);
    if (!model || !works_on_elements(*model) || operations_.size() >= kMaxOperations * members_)
      return false;
    for (Value* part : parts) {
      auto* operation = llvm::dyn_cast<Instruction>(part);
      if (!operation || operation->getParent() != model->getParent() ||
          !operation->isSameOperationAs(model, Instruction::CompareUsingScalarTypes) ||
          operation->getType() != model->getType())
        return false;
      operations_.insert(operation);
    }
    leaf_[parts] = false;
    if (llvm::isa<llvm::PHINode>(model)) phis_.push_back(parts);
    for (unsigned i = 0; i < model->getNumOperands(); ++i) {
      if (!add(operands(parts, i))) return false;
    }
    return true;
  }

  // Phis of one block may have their operands in different orders.
  static Parts operands(const Parts& parts, unsigned i) {
    const auto* first = llvm::dyn_cast<llvm::PHINode>(parts[0]);
    Parts found;
    for (Value* part : parts) {
      found.push_back(first ? checked_cast<llvm::PHINode>(part)->getIncomingValueForBlock(
                                  first->getIncomingBlock(i))
                            : checked_cast<Instruction>(part)->getOperand(i));
    }
    return found;
  }

  // Whether an instruction can use what is computed in front of `place_`.
  bool comes_later(const Instruction& user) const {
    return user.getParent() != place_->getParent() || !user.comesBefore(place_);
  }

  // Whether leaves are in the order of memory as they are. In other blocks, which may run more
  // often than that of the results, shuffles may cost more than they save.
  bool needs_no_shuffles() const {
    return llvm::all_of(leaf_, [](const auto& entry) {
      const Value* part = entry.first[0];
      return !entry.second || !part->getType()->isVectorTy() || !llvm::all_equal(entry.first) ||
             llvm::isa<Constant>(part) || llvm::getSplatValue(part);
    });
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

  // As many pieces as there are parts, one after the other: all at once would need too many
  // registers.
  Ordered build_in_block(llvm::IRBuilder<>& b) {
    Ordered pieces;
    for (unsigned piece = 0; piece < members_; ++piece) {
      built_.clear();
      pieces.push_back(build_piece(b, results_, piece));
    }
    return pieces;
  }

  Value* build_piece(llvm::IRBuilder<>& b, const Parts& parts, unsigned piece) {
    if (const auto found = built_.find(parts); found != built_.end()) return found->second;
    Value* built = leaf_.at(parts) ? leaf_piece(b, parts, piece)
                                   : build_operation(b, parts, [&](const Parts& operand) {
                                       return build_piece(b, operand, piece);
                                     });
    return built_[parts] = built;
  }

  static Value* build_operation(llvm::IRBuilder<>& b, const Parts& parts,
                                llvm::function_ref<Value*(const Parts&)> operand) {
    const auto* model = checked_cast<Instruction>(parts[0]);
    auto* copy = model->clone();
    for (unsigned i = 0; i < copy->getNumOperands(); ++i)
      copy->setOperand(i, operand(operands(parts, i)));
    for (Value* part : llvm::drop_begin(parts)) copy->andIRFlags(part);
    return b.Insert(copy, model->getName());
  }

  // All pieces of each operation next to it. Loops need those that they carry at once.
  Ordered build_all() {
    for (const Parts& phis : phis_) {
      auto* model = checked_cast<llvm::PHINode>(phis[0]);
      for (unsigned piece = 0; piece < members_; ++piece) {
        pieces_[phis].push_back(llvm::PHINode::Create(model->getType(),
                                                      model->getNumIncomingValues(),
                                                      model->getName(), model->getIterator()));
      }
    }
    for (const Parts& phis : phis_) add_incoming(phis, pieces_.at(phis));
    return pieces_of(results_);
  }

  void add_incoming(const Parts& phis, const Ordered& pieces) {
    const auto* model = checked_cast<llvm::PHINode>(phis[0]);
    for (unsigned i = 0; i < model->getNumIncomingValues(); ++i) {
      llvm::BasicBlock* from = model->getIncomingBlock(i);
      llvm::IRBuilder<> b(from->getTerminator());
      for (unsigned piece = 0; piece < members_; ++piece) {
        auto* phi = checked_cast<llvm::PHINode>(pieces[piece]);
        // A block that comes here in two ways has the same value in both.
        const int known = phi->getBasicBlockIndex(from);
        Value* value = known < 0 ? piece_of(b, operands(phis, i), piece)
                                 : phi->getIncomingValue(static_cast<unsigned>(known));
        phi->addIncoming(value, from);
      }
    }
  }

  Value* piece_of(llvm::IRBuilder<>& b, const Parts& parts, unsigned piece) {
    return leaf_.at(parts) ? leaf_piece(b, parts, piece) : pieces_of(parts)[piece];
  }

  const Ordered& pieces_of(const Parts& parts) {
    if (const auto found = pieces_.find(parts); found != pieces_.end()) return found->second;
    Ordered pieces;
    llvm::IRBuilder<> b(last_of(parts).getNextNode());
    for (unsigned piece = 0; piece < members_; ++piece) {
      pieces.push_back(build_operation(
          b, parts, [&](const Parts& operand) { return piece_of(b, operand, piece); }));
    }
    return pieces_[parts] = pieces;
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
  Instruction* place_;  // the results are complete in front of it
  Parts results_;
  bool in_block_ = true;        // all operations are in the block of `end_`
  std::map<Parts, bool> leaf_;  // of what is collected: whether it is a leaf
  std::vector<Parts> phis_;     // those of `leaf_` that are phis
  llvm::SmallPtrSet<Instruction*, 32> operations_;
  std::map<Parts, Value*> built_;    // of the current piece
  std::map<Parts, Ordered> pieces_;  // all pieces, if operations are in several blocks
};

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
    chain.replace();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace metal::cpu
