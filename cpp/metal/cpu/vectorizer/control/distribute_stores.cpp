#include "metal/cpu/vectorizer/control/distribute_stores.h"

#include <algorithm>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::SCEV;
using llvm::StoreInst;

// Bytes between pieces: at least the elements of a few gangs; on several pages, processors follow
// each.
constexpr int64_t kLeastApart = 512, kMostApart = 4096;
constexpr size_t kMaxPieces = 8;
constexpr unsigned kMaxOfBody = 1000;  // instructions
constexpr unsigned kMaxShared = 16;    // instructions of a body that others have, too

// Extends the terms of a sum instead of the sum, as if it did not wrap around. Where it does, an
// address differs from that by a multiple of 2^kNarrowest bytes. All stores lie within half of
// that, so those of different pieces overlap in neither case.
constexpr uint64_t kNarrowest = 16;  // bits of a sum
constexpr int64_t kMostSpan = int64_t{1} << (kNarrowest - 1);

class ExtendTerms : public llvm::SCEVRewriteVisitor<ExtendTerms> {
 public:
  using SCEVRewriteVisitor::SCEVRewriteVisitor;

  const SCEV* visitZeroExtendExpr(const llvm::SCEVZeroExtendExpr* extension) {
    return extend(*extension, false);
  }
  const SCEV* visitSignExtendExpr(const llvm::SCEVSignExtendExpr* extension) {
    return extend(*extension, true);
  }

 private:
  const SCEV* extend(const llvm::SCEVIntegralCastExpr& extension, bool is_signed) {
    const SCEV* value = extension.getOperand();
    if (SE.getTypeSizeInBits(value->getType()) < kNarrowest) return &extension;
    return extend(visit(value), extension.getType(), is_signed);
  }

  const SCEV* extend(const SCEV* value, llvm::Type* type, bool is_signed) {
    llvm::SmallVector<const SCEV*> terms;
    if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value)) {
      for (const SCEV* term : sum->operands()) terms.push_back(extend(term, type, is_signed));
      return SE.getAddExpr(terms);
    }
    const bool signed_value = is_signed || llvm::isa<llvm::SCEVConstant>(value);
    return signed_value ? SE.getSignExtendExpr(value, type) : SE.getZeroExtendExpr(value, type);
  }
};

// A store, and its distance in bytes from the first one.
struct PlacedStore {
  StoreInst* store;
  int64_t offset;
};
using StorePiece = llvm::SmallVector<StoreInst*>;

class Distribution {
 public:
  Distribution(llvm::Function& body, llvm::FunctionAnalysisManager& analyses)
      : body_(body),
        loops_(analyses.getResult<llvm::LoopAnalysis>(body)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(body)),
        aliases_(analyses.getResult<llvm::AAManager>(body)) {}

  // Empty if the stores stay together.
  llvm::SmallVector<StorePiece> find() {
    if (!loops_.empty() || body_.getInstructionCount() > kMaxOfBody || !find_places() ||
        changes_what_is_read())
      return {};
    llvm::SmallVector<StorePiece> pieces;
    std::ranges::stable_sort(places_, {}, &PlacedStore::offset);
    if (places_.back().offset - places_.front().offset > kMostSpan) return {};
    for (size_t i = 0; i < places_.size(); ++i) {
      const int64_t apart = i ? places_[i].offset - places_[i - 1].offset : kLeastApart;
      if (apart > kMostApart) return {};
      if (apart >= kLeastApart) pieces.emplace_back();
      pieces.back().push_back(places_[i].store);
    }
    if (pieces.size() < 2 || pieces.size() > kMaxPieces) return {};
    return pieces;
  }

 private:
  // False if something else has effects, or if the distance between two stores is not known.
  bool find_places() {
    ExtendTerms terms(evolution_);
    for (Instruction& instruction : llvm::instructions(body_)) {
      if (llvm::isa<llvm::AllocaInst>(instruction) || !can_take_turns(instruction)) return false;
      if (!has_effects(instruction)) continue;
      auto* store = llvm::dyn_cast<StoreInst>(&instruction);
      if (!store || !is_device_memory(store->getPointerOperand())) return false;
      const SCEV* address = terms.visit(evolution_.getSCEV(store->getPointerOperand()));
      if (!first_) first_ = address;
      const auto* offset =
          llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(address, first_));
      if (!offset) return false;
      places_.push_back({store, offset->getAPInt().getSExtValue()});
    }
    return places_.size() > 1;
  }

  bool changes_what_is_read() {
    return llvm::any_of(llvm::instructions(body_), [this](Instruction& instruction) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      return load && !reads_constants(*load) &&
             llvm::any_of(places_, [&](const PlacedStore& place) {
               return llvm::isModSet(
                   aliases_.getModRefInfo(place.store, llvm::MemoryLocation::get(load)));
             });
    });
  }

  llvm::Function& body_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::AAResults& aliases_;
  const SCEV* first_ = nullptr;
  llvm::SmallVector<PlacedStore> places_;
};

// Clones the body without the stores of other pieces.
llvm::Function* clone_with(llvm::Function& body, const StorePiece& piece, Optimizer& optimizer) {
  llvm::ValueToValueMapTy values;
  llvm::Function* clone = llvm::CloneFunction(&body, values);
  clone->setName("kernel.piece");
  llvm::SmallPtrSet<const Instruction*, 8> kept;
  for (StoreInst* store : piece) kept.insert(checked_cast<Instruction>(&*values[store]));
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*clone))) {
    if (llvm::isa<StoreInst>(instruction) && !kept.contains(&instruction))
      instruction.eraseFromParent();
  }
  optimizer.tidy(*clone);
  llvm::removeUnreachableBlocks(*clone);
  compiler::verify(*clone, "distribute-stores");
  return clone;
}

// What bodies cost.
struct Size {
  unsigned instructions = 0;
  unsigned loads = 0;  // of memory that may change

  Size& operator+=(const Size& other) {
    instructions += other.instructions;
    loads += other.loads;
    return *this;
  }
};

Size size_of(llvm::Function& body) {
  Size size{body.getInstructionCount()};
  for (const Instruction& instruction : llvm::instructions(body))
    size.loads += llvm::isa<llvm::LoadInst>(instruction) && !reads_constants(instruction);
  return size;
}

}  // namespace

std::vector<llvm::Function*> distribute_stores(llvm::Function& body, Optimizer& optimizer) {
  optimizer.functions().clear();
  const auto pieces = Distribution(body, optimizer.functions()).find();
  std::vector<llvm::Function*> bodies;
  Size total;
  for (const StorePiece& piece : pieces) {
    bodies.push_back(clone_with(body, piece, optimizer));
    total += size_of(*bodies.back());
  }
  const Size size = size_of(body);
  const auto shared = static_cast<unsigned>(pieces.size()) * kMaxShared;
  if (total.loads == size.loads && total.instructions <= size.instructions + shared) return bodies;
  for (llvm::Function* one : bodies) one->eraseFromParent();
  return {};
}

}  // namespace metal::cpu
