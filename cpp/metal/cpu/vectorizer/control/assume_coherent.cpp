#include "metal/cpu/vectorizer/control/assume_coherent.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopPeel.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

// The blocks that run before the body has effects. Vector code runs the paths of a divergent branch
// one after the other, in any order, so a block beside one with effects does not count.
class EarlyBlocks {
 public:
  EarlyBlocks(const llvm::Function& body, const ShapeAnalysis& analysis) : analysis_(analysis) {
    for (const BasicBlock& block : body) {
      if (llvm::none_of(block, has_effects)) continue;
      llvm::SmallVector<const BasicBlock*> work{&block};
      follow(work, behind_effects_);
      if (analysis.guarded(&block)) guarded_effects_.push_back(&block);
    }
  }

  bool contains(const BasicBlock* block) const {
    if (behind_effects_.contains(block)) return false;
    if (!analysis_.guarded(block) || guarded_effects_.empty()) return true;
    llvm::DenseSet<const BasicBlock*> behind{block};
    llvm::SmallVector<const BasicBlock*> work{block};
    follow(work, behind);
    return llvm::all_of(guarded_effects_,
                        [&](const BasicBlock* effect) { return behind.contains(effect); });
  }

 private:
  // Adds all blocks that can be reached from those in `work`.
  static void follow(llvm::SmallVector<const BasicBlock*>& work,
                     llvm::DenseSet<const BasicBlock*>& reached) {
    while (!work.empty()) {
      for (const BasicBlock* next : llvm::successors(work.pop_back_val())) {
        if (reached.insert(next).second) work.push_back(next);
      }
    }
  }

  const ShapeAnalysis& analysis_;
  llvm::DenseSet<const BasicBlock*> behind_effects_;
  llvm::SmallVector<const BasicBlock*> guarded_effects_;
};

// LLVM looks at all conditions on a divisor wherever it is used, so very many take minutes.
constexpr size_t kMostDivisions = 64;

constexpr std::pair<Instruction::BinaryOps, const char*> kDivisions[] = {
    {Instruction::UDiv, kCoherentUDiv},
    {Instruction::URem, kCoherentURem},
    {Instruction::SDiv, kCoherentSDiv},
    {Instruction::SRem, kCoherentSRem}};

bool is_division(const Instruction& instruction) {
  return instruction.isIntDivRem() && instruction.getType()->isIntegerTy(32) &&
         !llvm::isa<llvm::Constant>(instruction.getOperand(0));
}

using Filter = llvm::function_ref<bool(const Instruction&, const ShapeAnalysis&)>;

// Finds instructions that run before the body has effects.
llvm::SmallVector<Instruction*> find_early(llvm::Function& body, const BodyShapes& shapes,
                                           Filter wanted) {
  const llvm::DominatorTree dominators(body);
  const llvm::PostDominatorTree post_dominators(body);
  const llvm::LoopInfo loops(dominators);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  const EarlyBlocks early(body, analysis);
  llvm::SmallVector<Instruction*> found;
  for (BasicBlock& block : body) {
    llvm::SmallVector<Instruction*> here;
    for (Instruction& instruction : block) {
      if (has_effects(instruction)) break;
      if (wanted(instruction, analysis)) here.push_back(&instruction);
    }
    if (!here.empty() && early.contains(&block)) found.append(here);
  }
  return found;
}

bool divides_index(const Instruction& instruction, const ShapeAnalysis& analysis) {
  if (!is_division(instruction)) return false;
  const Shape index = analysis.shape(instruction.getOperand(0));
  return index.has_offsets() && !index.is_uniform() && index.exact() &&
         llvm::is_sorted(index.offsets()) && analysis.shape(instruction.getOperand(1)).is_uniform();
}

// Extensions of 32 bits to 64: casts, and masks that clear the upper bits.
bool extends_strided(const Instruction& instruction, const ShapeAnalysis& analysis) {
  using namespace llvm::PatternMatch;
  if (!instruction.getType()->isIntegerTy(64)) return false;
  const bool extends = llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction)
                           ? instruction.getOperand(0)->getType()->isIntegerTy(32)
                           : match(&instruction, m_And(m_Value(), m_SpecificInt(UINT32_MAX)));
  return extends && analysis.shape(instruction.getOperand(0)).is_strided();
}

void replace_by_call(Instruction& instruction, const char* name,
                     llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::IRBuilder<> b(&instruction);
  llvm::SmallVector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto callee = instruction.getModule()->getOrInsertFunction(
      name, llvm::FunctionType::get(instruction.getType(), types, false));
  auto* function = checked_cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  instruction.replaceAllUsesWith(b.CreateCall(callee, arguments));
  instruction.eraseFromParent();
}

// Assuming that one extension does not wrap around may show that another one is strided.
void assume_extensions(llvm::Function& body, const BodyShapes& shapes) {
  for (;;) {
    const auto extensions = find_early(body, shapes, extends_strided);
    if (extensions.empty()) return;
    for (Instruction* extension : extensions) {
      llvm::IRBuilder<> b(extension);
      const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
      replace_by_call(*extension, is_signed ? kCoherentSExt : kCoherentZExt,
                      {b.CreateTrunc(extension->getOperand(0), b.getInt32Ty())});
    }
  }
}

// Whether the loop divides an index again in every iteration.
bool divides_index_repeatedly(const llvm::Loop& loop, const ShapeAnalysis& analysis) {
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy(32)) continue;
    const Shape start = analysis.shape(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
    if (!start.has_offsets() || start.is_uniform()) continue;
    for (const llvm::User* user : phi.users()) {
      const auto* division = llvm::dyn_cast<Instruction>(user);
      if (division && loop.contains(division) && is_division(*division) &&
          division->getOperand(0) == &phi)
        return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Instruction::BinaryOps> coherent_division(llvm::StringRef name) {
  for (const auto& [operation, marker] : kDivisions) {
    if (name == marker) return operation;
  }
  return std::nullopt;
}

// In the first iteration the lanes divide different values. From then on the values may be uniform.
bool peel_index_loops(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  simplify.run(body, analyses);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(body);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  llvm::SmallVector<llvm::Loop*> found;
  {
    const llvm::PostDominatorTree post_dominators(body);
    const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (loop->isInnermost() && loop->isLoopSimplifyForm() && llvm::canPeel(loop) &&
          divides_index_repeatedly(*loop, analysis))
        found.push_back(loop);
    }
  }
  for (llvm::Loop* loop : found) {
    llvm::ValueToValueMapTy values;
    llvm::peelLoop(loop, 1, &loops, &analyses.getResult<llvm::ScalarEvolutionAnalysis>(body),
                   dominators, &analyses.getResult<llvm::AssumptionAnalysis>(body),
                   /*PreserveLCSSA=*/true, values);
  }
  return !found.empty();
}

llvm::Function* clone_assuming_coherent(llvm::Function& body, const BodyShapes& shapes) {
  const auto divisions = find_early(body, shapes, divides_index);
  if (divisions.empty() || divisions.size() > kMostDivisions) return nullptr;
  llvm::ValueToValueMapTy clones;
  llvm::Function* clone = llvm::CloneFunction(&body, clones);
  for (Instruction* division : divisions) {
    auto* copy = checked_cast<Instruction>(clones[division]);
    const auto* known = llvm::find_if(
        kDivisions, [&](const auto& division) { return division.first == copy->getOpcode(); });
    replace_by_call(*copy, known->second, {copy->getOperand(0), copy->getOperand(1)});
  }
  assume_extensions(*clone, shapes);
  return clone;
}

}  // namespace metal::cpu
