#include "metal/cpu/vectorizer/control/jam_gangs.h"

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_choice.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// The arguments of one gang of a set.
struct GangPlace {
  Value *x, *y, *index;
};

// Where a gang of a set is. The arguments are the place of the set's first gang, or, if the size of
// the threadgroup is known, the number of the set.
//
// Gangs have consecutive numbers. A set of them is part of a row, or consists of whole rows. The
// only set of a threadgroup has constant places.
GangPlace place_of(llvm::IRBuilder<>& b, llvm::Function& code, const Variant& variant,
                   uint32_t gangs, uint32_t gang) {
  if (variant.gangs_in_row == 0) {
    Value* distance = b.getInt32(gang * variant.width);
    return {b.CreateNUWAdd(code.getArg(kXArgument), distance), code.getArg(kYArgument),
            b.CreateNUWAdd(code.getArg(kIndexArgument), distance)};
  }
  Value* set = code.getArg(kIndexArgument);
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
    bail_out_at_guards();
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
      const GangPlace place = place_of(b, code_, variant, gangs, gang);
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

  // Either all gangs pass a guard, or the set bails out.
  void bail_out_at_guards() {
    if (dependence_.guards().empty()) return;
    BasicBlock* out = BasicBlock::Create(code_.getContext(), "bail.out", &code_);
    llvm::IRBuilder<> b(out);
    b.CreateRet(b.getFalse());
    for (const GangGuard& guard : dependence_.guards()) {
      llvm::BranchInst* branch = guard.branch;
      b.SetInsertPoint(branch);
      Value* all = nullptr;
      for (uint32_t gang = 0; gang < values_.size(); ++gang) {
        Value* condition = branch->getCondition();
        if (gang > 0) condition = values_[gang][condition];
        Value* passes = guard.passes_if ? condition : b.CreateNot(condition);
        all = all ? b.CreateLogicalAnd(all, passes) : passes;
      }
      BasicBlock* inside = branch->getSuccessor(guard.passes_if ? 0 : 1);
      branch->getSuccessor(guard.passes_if ? 1 : 0)->removePredecessor(branch->getParent());
      b.CreateCondBr(all, inside, out);
      branch->eraseFromParent();
    }
  }

  llvm::Function& code_;
  const GangDependence& dependence_;
  std::vector<llvm::ValueToValueMapTy> values_;  // by gang
  llvm::MapVector<Instruction*, uint32_t> copies_;
};

bool has_guards(llvm::Function& code, llvm::ArrayRef<unsigned> arguments, uint32_t width) {
  GangDependence dependence(code, arguments, width);
  dependence.find_guards();
  return !dependence.guards().empty();
}

// Moves the code into a function that returns whether it has not bailed out.
llvm::Function* return_success(llvm::Function& code) {
  llvm::LLVMContext& context = code.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getInt1Ty(context),
                                       code.getFunctionType()->params(), false);
  auto* result = llvm::Function::Create(type, code.getLinkage(), "", code.getParent());
  result->takeName(&code);
  result->copyAttributesFrom(&code);
  result->splice(result->begin(), &code);
  for (auto [from, to] : llvm::zip(code.args(), result->args())) {
    from.replaceAllUsesWith(&to);
    to.takeName(&from);
  }
  code.eraseFromParent();
  for (BasicBlock& block : *result) {
    if (!llvm::isa<llvm::ReturnInst>(block.getTerminator())) continue;
    block.getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(context, llvm::ConstantInt::getTrue(context), &block);
  }
  return result;
}

// `choose` says how many gangs of a code pay.
JammedGangs clone_jamming(llvm::Function& wide, const Variant& variant, Optimizer& optimizer,
                          llvm::function_ref<uint32_t(llvm::Function&)> choose) {
  // Simplified code tells better, but most kernels share nothing.
  if (choose(wide) == 1) return {};
  llvm::ValueToValueMapTy values;
  llvm::Function* code = llvm::CloneFunction(&wide, values);
  optimizer.simplify_wide(*code);
  const uint32_t gangs = choose(*code);
  const auto arguments = arguments_that_differ(variant, gangs);
  if (code->getReturnType()->isVoidTy() && has_guards(*code, arguments, variant.width))
    code = return_success(*code);
  GangDependence dependence(*code, arguments, variant.width);
  dependence.find_guards();
  if (gangs == 1 || !dependence.find_regions()) {
    code->eraseFromParent();
    return {};
  }
  Jammer(*code, dependence, gangs).run(variant);
  optimizer.tidy(*code);
  return {code, gangs};
}

}  // namespace

uint32_t jam_gangs(llvm::Function& wide, const Variant& variant,
                   llvm::FunctionAnalysisManager& analyses,
                   const llvm::TargetTransformInfo& costs) {
  if (variant.gangs_in_row == 0) return 1;
  const uint32_t gangs = GangChoice(wide, variant, costs).gangs_between_barriers(analyses);
  if (gangs == 1) return 1;
  GangDependence dependence(wide, arguments_that_differ(variant, gangs), variant.width);
  if (!dependence.find_regions()) return 1;
  Jammer(wide, dependence, gangs).run(variant);
  return gangs;
}

JammedGangs clone_jamming_gangs(llvm::Function& wide, const Variant& variant, Optimizer& optimizer,
                                const llvm::TargetTransformInfo& costs) {
  return clone_jamming(wide, variant, optimizer, [&](llvm::Function& code) {
    return GangChoice(code, variant, costs).gangs_beside();
  });
}

JammedGangs clone_jamming_row(llvm::Function& wide, const Variant& variant, Optimizer& optimizer,
                              const llvm::TargetTransformInfo& costs) {
  return clone_jamming(wide, variant, optimizer, [&](llvm::Function& code) {
    return GangChoice(code, variant, costs).gangs_of_row(optimizer.functions());
  });
}

}  // namespace metal::cpu
