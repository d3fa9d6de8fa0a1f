#include "metal/cpu/vectorizer/control/jam_gangs.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/repetition.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/memory/columns.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr uint32_t kMostGangs = 16;         // a power of two
constexpr size_t kMostInstructions = 6000;  // of jammed code
constexpr uint32_t kFewGangs = 4;
constexpr size_t kFewInstructions = 1200;

// The arguments of one gang of a set.
struct GangPlace {
  Value *x, *y, *index;
};

// Gangs have consecutive numbers. A set of them is part of a row, or consists of whole rows. The
// only set of a threadgroup has constant places.
GangPlace place_of(llvm::IRBuilder<>& b, Value* set, const Variant& variant, uint32_t gangs,
                   uint32_t gang) {
  const uint32_t in_row = variant.gangs_in_row, width = variant.width;
  if (gangs == in_row * variant.rows) set = b.getInt32(0);
  Value* number = b.CreateNUWAdd(b.CreateNUWMul(set, b.getInt32(gangs)), b.getInt32(gang));
  Value* index = b.CreateNUWMul(number, b.getInt32(width));
  if (gangs >= in_row) {
    Value* row = b.CreateNUWMul(set, b.getInt32(gangs / in_row));
    return {b.getInt32(gang % in_row * width), b.CreateNUWAdd(row, b.getInt32(gang / in_row)),
            index};
  }
  Value* sets_in_row = b.getInt32(in_row / gangs);
  Value* x = b.CreateNUWMul(b.CreateURem(set, sets_in_row), b.getInt32(gangs * width));
  return {b.CreateNUWAdd(x, b.getInt32(gang * width)), b.CreateUDiv(set, sets_in_row), index};
}

// The arguments that differ between the gangs of a set.
llvm::SmallVector<unsigned> arguments_that_differ(const Variant& variant, uint32_t gangs) {
  llvm::SmallVector<unsigned> arguments{kIndexArgument};
  if (variant.gangs_in_row > 1) arguments.push_back(kXArgument);
  if (gangs > variant.gangs_in_row) arguments.push_back(kYArgument);
  return arguments;
}

// Copies the code of the first gang of a set for the others.
class Jammer {
 public:
  Jammer(llvm::Function& code, const GangDependence& dependence, uint32_t gangs)
      : code_(code), dependence_(dependence), values_(gangs) {}

  void run(const Variant& variant) {
    llvm::SmallVector<BasicBlock*> blocks;
    for (BasicBlock& block : code_) {
      if (!dependence_.region_of(&block)) blocks.push_back(&block);
    }
    for (BasicBlock* block : blocks) copy_in_block(*block);
    for (const GangRegion& region : dependence_.regions()) copy_region(region);
    set_places(variant);
    for (const auto& [copy, gang] : copies_)
      llvm::RemapInstruction(copy, values_[gang],
                             llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    for (const GangRegion& region : dependence_.regions()) run_in_turn(region);
  }

 private:
  void copy_in_block(BasicBlock& block) {
    llvm::SmallVector<Instruction*> originals;
    for (Instruction& instruction : block) {
      if (dependence_.depends(&instruction) && !instruction.isTerminator())
        originals.push_back(&instruction);
    }
    for (Instruction* original : originals) {
      Instruction* place = original;
      for (uint32_t gang = 1; gang < values_.size(); ++gang) {
        Instruction* copy = original->clone();
        copy->insertAfter(place);
        place = copy;
        remember(gang, original, copy);
      }
    }
  }

  void copy_region(const GangRegion& region) {
    for (uint32_t gang = 1; gang < values_.size(); ++gang) {
      for (BasicBlock* block : region.blocks) {
        BasicBlock* copy = BasicBlock::Create(code_.getContext(), block->getName(), &code_);
        values_[gang][block] = copy;
        for (Instruction& original : *block) {
          Instruction* instruction = original.clone();
          instruction->insertInto(copy, copy->end());
          remember(gang, &original, instruction);
        }
      }
    }
  }

  void remember(uint32_t gang, Instruction* original, Instruction* copy) {
    if (!copy->getType()->isVoidTy()) copy->setName(original->getName());
    values_[gang][original] = copy;
    copies_[copy] = gang;
  }

  // The code of the first gang is the original, which also computes what all gangs share.
  void set_places(const Variant& variant) {
    constexpr unsigned kChanged[] = {kXArgument, kYArgument, kIndexArgument};
    llvm::SmallVector<std::pair<llvm::Use*, unsigned>> uses;
    for (unsigned argument : kChanged) {
      for (llvm::Use& use : code_.getArg(argument)->uses()) {
        if (!copies_.contains(checked_cast<Instruction>(use.getUser())))
          uses.emplace_back(&use, argument);
      }
    }
    BasicBlock& entry = code_.getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
    const auto gangs = static_cast<uint32_t>(values_.size());
    for (uint32_t gang = 0; gang < gangs; ++gang) {
      const GangPlace place = place_of(b, code_.getArg(kIndexArgument), variant, gangs, gang);
      auto& values = values_[gang];
      values[code_.getArg(kXArgument)] = place.x;
      values[code_.getArg(kYArgument)] = place.y;
      values[code_.getArg(kIndexArgument)] = place.index;
    }
    for (const auto& [use, argument] : uses) use->set(values_[0][code_.getArg(argument)]);
  }

  BasicBlock* copy_of(BasicBlock* block, uint32_t gang) {
    return gang == 0 ? block : checked_cast<BasicBlock>(static_cast<Value*>(values_[gang][block]));
  }

  // Gang after gang runs the region.
  void run_in_turn(const GangRegion& region) {
    const auto gangs = static_cast<uint32_t>(values_.size());
    BasicBlock* end = copy_of(region.last, gangs - 1);
    for (llvm::PHINode& phi : region.last->getSingleSuccessor()->phis()) {
      for (uint32_t gang = 0; gang < gangs; ++gang)
        phi.replaceIncomingBlockWith(copy_of(region.last, gang), end);
    }
    for (uint32_t gang = 1; gang < gangs; ++gang) {
      BasicBlock* before = copy_of(region.last, gang - 1);
      BasicBlock* entrance = copy_of(region.entrance, gang);
      before->getTerminator()->setSuccessor(0, entrance);
      // A region that is a loop is entered from one block.
      for (llvm::PHINode& phi : entrance->phis()) {
        for (BasicBlock* from : phi.blocks()) {
          if (!is_copy(*from, region, gang)) phi.replaceIncomingBlockWith(from, before);
        }
      }
    }
  }

  bool is_copy(const BasicBlock& block, const GangRegion& region, uint32_t gang) {
    return llvm::any_of(region.blocks,
                        [&](BasicBlock* original) { return copy_of(original, gang) == &block; });
  }

  llvm::Function& code_;
  const GangDependence& dependence_;
  std::vector<llvm::ValueToValueMapTy> values_;  // by gang
  llvm::MapVector<Instruction*, uint32_t> copies_;
};

// Decides how many gangs to jam.
class GangChoice {
 public:
  GangChoice(llvm::Function& code, const Variant& variant, llvm::FunctionAnalysisManager& analyses,
             const llvm::TargetTransformInfo& costs)
      : code_(code),
        variant_(variant),
        analyses_(analyses),
        dominators_(code),
        loops_(dominators_) {
    register_bits_ = static_cast<unsigned>(
        costs.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
    registers_ = costs.getNumberOfRegisters(costs.getRegisterClassForType(
        true, llvm::FixedVectorType::get(llvm::Type::getFloatTy(code.getContext()), 4)));
  }

  uint32_t run() const {
    const unsigned kept = std::max(registers_kept(), 1u);
    uint32_t gangs = kMostGangs;
    // Half of the registers are for what is not kept.
    while (gangs > 1 && (!fits_rows(gangs) || 2 * gangs * kept > registers_ ||
                         size_t{gangs} * code_.getInstructionCount() > kMostInstructions))
      gangs /= 2;
    if (gangs > 1 && shares(gangs)) return gangs;
    // A block has the columns of a few gangs. More only save barriers, if the code stays short.
    while (gangs > kFewGangs &&
           (!fits_rows(gangs) || size_t{gangs} * code_.getInstructionCount() > kFewInstructions))
      gangs /= 2;
    return gangs > 1 && fits_rows(gangs) && read_neighbouring_columns(gangs) ? gangs : 1;
  }

 private:
  bool fits_rows(uint32_t gangs) const {
    const uint32_t in_row = variant_.gangs_in_row;
    return gangs <= in_row ? in_row % gangs == 0
                           : gangs % in_row == 0 && in_row * variant_.rows % gangs == 0;
  }

  unsigned registers_of(const llvm::Type& type) const {
    if (!type.isVectorTy() || type.getScalarType()->isIntegerTy(1)) return 0;
    return llvm::divideCeil(static_cast<unsigned>(type.getPrimitiveSizeInBits().getFixedValue()),
                            register_bits_);
  }

  // The registers with what the iterations of a loop read of earlier ones, and of the code before
  // the loop; the most of any loop.
  unsigned registers_kept() const {
    unsigned most = 0;
    for (const llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      llvm::SmallSetVector<const Value*, 16> kept;
      for (const BasicBlock* block : loop->blocks()) {
        for (const Instruction& instruction : *block) {
          for (const Value* operand : instruction.operands()) {
            const auto* from = llvm::dyn_cast<Instruction>(operand);
            if (from && !loop->contains(from) && !llvm::getSplatValue(from) &&
                !llvm::isa<llvm::PHINode>(instruction))
              kept.insert(from);
          }
        }
      }
      for (const llvm::PHINode& phi : loop->getHeader()->phis()) kept.insert(&phi);
      unsigned registers = 0;
      for (const Value* value : kept) registers += registers_of(*value->getType());
      most = std::max(most, registers);
    }
    return most;
  }

  // Whether loops read a good part of threadgroup memory that they read for all gangs of a set.
  bool shares(uint32_t gangs) const {
    const GangDependence dependence(code_, arguments_that_differ(variant_, gangs), variant_.width);
    const auto in_turn = blocks_in_turn(dependence);
    unsigned all = 0, shared = 0;
    for (const Instruction& instruction : llvm::instructions(code_)) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !reads_threadgroup_memory(*load) || !loops_.getLoopFor(load->getParent()))
        continue;
      const unsigned registers = std::max(registers_of(*load->getType()), 1u);
      all += registers;
      const bool is_shared = !dependence.depends(load) && !in_turn.contains(load->getParent());
      shared += is_shared ? registers : 0;
    }
    return 4 * shared > all;
  }

  // The blocks that gangs run one after the other: those behind a branch on which gangs may part,
  // up to where their paths join. They are the whole loop if gangs may leave it at different times.
  llvm::DenseSet<const BasicBlock*> blocks_in_turn(const GangDependence& dependence) const {
    const llvm::PostDominatorTree post_dominators(code_);
    llvm::DenseSet<const BasicBlock*> found;
    for (BasicBlock& branch : code_) {
      if (!dependence.depends(branch.getTerminator())) continue;
      const auto* node = post_dominators.getNode(&branch);
      const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
      llvm::SmallPtrSet<const BasicBlock*, 16> seen;
      llvm::SmallVector<const BasicBlock*> work(llvm::successors(&branch));
      while (!work.empty()) {
        const BasicBlock* block = work.pop_back_val();
        if (block == join || !seen.insert(block).second) continue;
        llvm::append_range(work, llvm::successors(block));
      }
      found.insert(seen.begin(), seen.end());
    }
    return found;
  }

  // Whether a gang of the set reads a column beside one of the first gang.
  bool read_neighbouring_columns(uint32_t gangs) const {
    if (llvm::none_of(llvm::instructions(code_), is_column)) return false;
    analyses_.clear();
    auto& evolution = analyses_.getResult<llvm::ScalarEvolutionAnalysis>(code_);
    const auto& post_dominators = analyses_.getResult<llvm::PostDominatorTreeAnalysis>(code_);
    const bool found = llvm::any_of(llvm::instructions(code_), [&](const Instruction& column) {
      // Behind a branch, gangs run one after the other.
      if (!is_column(column) ||
          !post_dominators.dominates(column.getParent(), &code_.getEntryBlock()))
        return false;
      const llvm::SCEV* first =
          evolution.getSCEV(first_of_column(*checked_cast<llvm::CallInst>(&column)));
      const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(
          at_gang(evolution, first, neighbour(gangs)), at_gang(evolution, first, 0)));
      const auto size = column.getType()->getScalarSizeInBits() / 8;
      return distance && distance->getAPInt() == size;
    });
    analyses_.clear();
    return found;
  }

  // The gang beside the first one: in the next row, if the set has several.
  uint32_t neighbour(uint32_t gangs) const {
    return gangs > variant_.gangs_in_row ? variant_.gangs_in_row : 1;
  }

  // What the expression is in one of the first gangs of a threadgroup.
  const llvm::SCEV* at_gang(llvm::ScalarEvolution& evolution, const llvm::SCEV* expression,
                            uint32_t gang) const {
    llvm::ValueToSCEVMapTy values;
    auto set = [&](unsigned argument, uint32_t value) {
      llvm::Argument* of_gang = code_.getArg(argument);
      values[of_gang] = evolution.getConstant(of_gang->getType(), value);
    };
    set(kXArgument, gang % variant_.gangs_in_row * variant_.width);
    set(kYArgument, gang / variant_.gangs_in_row);
    set(kIndexArgument, gang * variant_.width);
    return llvm::SCEVParameterRewriter::rewrite(expression, evolution, values);
  }

  llvm::Function& code_;
  const Variant& variant_;
  llvm::FunctionAnalysisManager& analyses_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  unsigned register_bits_, registers_;
};

}  // namespace

uint32_t jam_gangs(llvm::Function& wide, const Variant& variant,
                   llvm::FunctionAnalysisManager& analyses,
                   const llvm::TargetTransformInfo& costs) {
  if (variant.gangs_in_row == 0) return 1;
  const uint32_t gangs = GangChoice(wide, variant, analyses, costs).run();
  if (gangs == 1) return 1;
  GangDependence dependence(wide, arguments_that_differ(variant, gangs), variant.width);
  if (!dependence.find_regions()) return 1;
  Jammer(wide, dependence, gangs).run(variant);
  return gangs;
}

}  // namespace metal::cpu
