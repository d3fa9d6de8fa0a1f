#include "metal/cpu/vectorizer/control/loops_of_gangs.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

constexpr uint32_t kMostCopies = 16;
constexpr unsigned kMostIterations = 8;
constexpr uint64_t kMostCopied = 1200;  // instructions of all copies, unrolled

bool is_place(const Value* value) {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(value);
  return argument && llvm::is_contained({kXArgument, kYArgument, kZArgument, kIndexArgument},
                                        argument->getArgNo());
}

// Whether the instruction only depends on its operands, so that it can be computed again for a
// gang.
bool is_arithmetic(const Instruction& instruction) {
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::GetElementPtrInst, llvm::FreezeInst>(instruction);
}

// Whether the value is computed from the gang's index and constants.
bool is_of_index(const Value* value) {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return argument->getArgNo() == kIndexArgument;
  const auto* operation = llvm::dyn_cast<Instruction>(value);
  if (!operation || !llvm::isa<llvm::BinaryOperator, llvm::CmpInst>(operation)) return false;
  const Value* left = operation->getOperand(0);
  const Value* right = operation->getOperand(1);
  return llvm::isa<llvm::Constant>(right) && is_of_index(left);
}

// The first lane of a gang.
struct GangStart {
  uint32_t x, y, index;
};

GangStart start_of(uint32_t gang, const Variant& variant) {
  const uint32_t in_row = variant.gangs_in_row;
  return {gang % in_row * variant.width, gang / in_row, gang * variant.width};
}

uint32_t gangs_of(const Variant& variant) { return variant.gangs_in_row * variant.rows; }

// Loops that start at the thread's place and end soon.
class ShortLoops {
 public:
  ShortLoops(llvm::Function& body, llvm::ScalarEvolution& evolution, const Variant& variant)
      : body_(body), evolution_(evolution), variant_(variant) {}

  // The outermost ones.
  void find(llvm::ArrayRef<Loop*> loops) {
    for (Loop* loop : loops) {
      if (has_calls(*loop)) {
        find(loop->getSubLoops());
      } else if (is_short(*loop)) {
        found_.push_back(loop);
      }
    }
  }

  llvm::ArrayRef<Loop*> found() const { return found_; }

 private:
  static bool has_calls(const Loop& loop) {
    return llvm::any_of(loop.blocks(), [](const BasicBlock* block) {
      return llvm::any_of(*block, [](const Instruction& instruction) {
        return llvm::isa<llvm::CallBase>(instruction) &&
               !llvm::isa<llvm::IntrinsicInst>(instruction);
      });
    });
  }

  bool is_short(const Loop& loop) {
    return loop.isLoopSimplifyForm() && loop.getExitBlock() && starts_at_place(loop) &&
           size_of_copies(loop) <= kMostCopied;
  }

  bool starts_at_place(const Loop& loop) {
    const llvm::SCEV* repetitions = evolution_.getBackedgeTakenCount(&loop);
    const bool differs = !llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVConstant>(repetitions) &&
                         llvm::SCEVExprContains(repetitions, [](const llvm::SCEV* part) {
                           const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
                           return unknown && is_place(unknown->getValue());
                         });
    return differs ||
           llvm::any_of(loop, [&](const Loop* inner) { return starts_at_place(*inner); });
  }

  uint64_t size_of_copies(const Loop& loop) {
    uint64_t size = 0;
    for (uint32_t gang = 0; gang < gangs_of(variant_); ++gang) size += unrolled_size(loop, gang);
    return size;
  }

  uint64_t unrolled_size(const Loop& loop, uint32_t gang) {
    const uint64_t count = most_iterations(loop, gang);
    if (count > kMostIterations) return kMostCopied + 1;
    uint64_t size = 0;
    for (const BasicBlock* block : loop.blocks()) size += block->size();
    for (const Loop* inner : loop) {
      for (const BasicBlock* block : inner->blocks()) size -= block->size();
      size += unrolled_size(*inner, gang);
    }
    return count * size;
  }

  uint64_t most_iterations(const Loop& loop, uint32_t gang) {
    const llvm::SCEV* repetitions = evolution_.getBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(repetitions)) return UINT64_MAX;
    const llvm::APInt most = evolution_.getUnsignedRangeMax(at_gang(repetitions, gang));
    return most.getLimitedValue(UINT32_MAX) + 1;
  }

  const llvm::SCEV* at_gang(const llvm::SCEV* expression, uint32_t gang) {
    const GangStart start = start_of(gang, variant_);
    auto number = [&](uint32_t value) { return evolution_.getConstant(llvm::APInt(32, value)); };
    const llvm::SCEV* lane = evolution_.getSCEV(body_.getArg(kLaneArgument));
    auto from = [&](uint32_t first) { return evolution_.getAddExpr(lane, number(first)); };
    const llvm::DenseMap<unsigned, const llvm::SCEV*> places = {
        {kXArgument, from(start.x)},
        {kYArgument, number(start.y)},
        {kZArgument, number(0)},
        {kIndexArgument, from(start.index)}};
    llvm::ValueToSCEVMapTy values;
    for (const auto& [argument, place] : places) values[body_.getArg(argument)] = place;
    return llvm::SCEVParameterRewriter::rewrite(expression, evolution_, values);
  }

  llvm::Function& body_;
  llvm::ScalarEvolution& evolution_;
  const Variant& variant_;
  llvm::SmallVector<Loop*> found_;
};

// Copies one loop.
class LoopCopies {
 public:
  LoopCopies(Loop& loop, const Variant& variant)
      : loop_(loop),
        blocks_(loop.blocks().begin(), loop.blocks().end()),
        body_(*loop.getHeader()->getParent()),
        exit_(loop.getExitBlock()),
        variant_(variant) {}

  void make(llvm::SmallPtrSetImpl<const BasicBlock*>& copied) {
    const uint32_t gangs = gangs_of(variant_);
    BasicBlock* before = loop_.getLoopPreheader();
    llvm::SmallVector<BasicBlock*> starts;
    for (uint32_t gang = 0; gang < gangs; ++gang) starts.push_back(make_copy(gang, copied));
    before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> b(before);
    Value* number = b.CreateLShr(body_.getArg(kIndexArgument), llvm::Log2_32(variant_.width));
    llvm::SwitchInst* choice = b.CreateSwitch(number, starts.back(), gangs);
    for (uint32_t gang = 0; gang + 1 < gangs; ++gang)
      choice->addCase(b.getInt32(gang), starts[gang]);
    llvm::DeleteDeadBlocks(blocks_);
  }

 private:
  // Returns the copy's first block.
  BasicBlock* make_copy(uint32_t gang, llvm::SmallPtrSetImpl<const BasicBlock*>& copied) {
    auto* start = BasicBlock::Create(body_.getContext(), "of.gang", &body_, exit_);
    llvm::IRBuilder<> b(start);
    llvm::ValueToValueMapTy values;
    set_places(b, gang, values);
    for (BasicBlock* block : blocks_) {
      for (const Instruction& instruction : *block) {
        for (Value* operand : instruction.operands()) at_gang(b, operand, values);
      }
    }
    llvm::SmallVector<BasicBlock*> copies;
    values[loop_.getLoopPreheader()] = start;
    for (BasicBlock* block : blocks_) {
      BasicBlock* copy = llvm::CloneBasicBlock(block, values, "", &body_);
      copy->moveBefore(exit_);
      values[block] = copy;
      copies.push_back(copy);
    }
    llvm::remapInstructionsInBlocks(copies, values);
    b.CreateBr(checked_cast<BasicBlock>(static_cast<Value*>(values[loop_.getHeader()])));
    leave(values);
    copied.insert(copies.begin(), copies.end());
    return start;
  }

  void set_places(llvm::IRBuilder<>& b, uint32_t gang, llvm::ValueToValueMapTy& values) {
    const GangStart first = start_of(gang, variant_);
    Value* lane = body_.getArg(kLaneArgument);
    auto from = [&](uint32_t start) {
      return b.CreateAdd(lane, b.getInt32(start), "", /*HasNUW=*/true, /*HasNSW=*/true);
    };
    values[body_.getArg(kXArgument)] = from(first.x);
    values[body_.getArg(kYArgument)] = b.getInt32(first.y);
    values[body_.getArg(kZArgument)] = b.getInt32(0);
    values[body_.getArg(kIndexArgument)] = from(first.index);
  }

  // Whether the value is computed from the thread's place, before the loop. If so, it is computed
  // again for the gang.
  bool at_gang(llvm::IRBuilder<>& b, Value* value, llvm::ValueToValueMapTy& values) {
    if (values.count(value)) return true;
    if (shared_.contains(value)) return false;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || loop_.contains(instruction) || !is_arithmetic(*instruction)) return false;
    bool differs = false;
    for (Value* operand : instruction->operands()) differs |= at_gang(b, operand, values);
    if (!differs) {
      shared_.insert(value);
      return false;
    }
    Instruction* copy = instruction->clone();
    llvm::RemapInstruction(copy, values,
                           llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
    values[value] = b.Insert(copy, instruction->getName());
    return true;
  }

  // Passes on the copy's results.
  void leave(llvm::ValueToValueMapTy& values) {
    for (llvm::PHINode& phi : exit_->phis()) {
      for (unsigned i = 0, end = phi.getNumIncomingValues(); i < end; ++i) {
        Value* result = phi.getIncomingValue(i);
        BasicBlock* from = phi.getIncomingBlock(i);
        if (!llvm::is_contained(blocks_, from)) continue;
        const auto copy = values.find(result);
        phi.addIncoming(copy == values.end() ? result : static_cast<Value*>(copy->second),
                        checked_cast<BasicBlock>(static_cast<Value*>(values[from])));
      }
    }
  }

  Loop& loop_;
  llvm::SmallVector<BasicBlock*> blocks_;
  llvm::Function& body_;
  BasicBlock* exit_;
  const Variant& variant_;
  llvm::SmallPtrSet<const Value*, 16> shared_;  // what is the same for all gangs
};

// The iterations of some copies are exactly known. Exits of the others go away later.
void mark_for_unrolling(llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
                        const llvm::SmallPtrSetImpl<const BasicBlock*>& copied) {
  analyses.clear();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  for (Loop* loop : analyses.getResult<llvm::LoopAnalysis>(body).getLoopsInPreorder()) {
    if (!copied.contains(loop->getHeader())) continue;
    const bool is_exact = evolution.getSmallConstantTripCount(loop) != 0;
    llvm::addStringMetadataToLoop(
        loop, is_exact ? "llvm.loop.unroll.full" : "llvm.loop.unroll.enable", 1);
  }
}

}  // namespace

bool copy_loops_of_gangs(llvm::Function& body, const Variant& variant,
                         llvm::FunctionAnalysisManager& analyses) {
  const uint32_t gangs = gangs_of(variant);
  if (gangs < 2 || gangs > kMostCopies) return false;
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  analyses.clear();
  simplify.run(body, analyses);
  body.getArg(kLaneArgument)
      ->addAttr(llvm::Attribute::get(
          body.getContext(), llvm::Attribute::Range,
          llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, variant.width))));
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  ShortLoops short_loops(body, analyses.getResult<llvm::ScalarEvolutionAnalysis>(body), variant);
  short_loops.find(loops.getTopLevelLoops());
  if (short_loops.found().empty()) return false;
  llvm::SmallPtrSet<const BasicBlock*, 32> copied;
  for (Loop* loop : short_loops.found()) LoopCopies(*loop, variant).make(copied);
  mark_for_unrolling(body, analyses, copied);
  body.addFnAttr(kLoopsOfGangs);
  analyses.clear();
  return true;
}

bool has_loops_of_gangs(const llvm::Function& code) { return code.hasFnAttribute(kLoopsOfGangs); }

unsigned choices_of_gang(const BasicBlock& block) {
  const Instruction* end = block.getTerminator();
  if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end))
    return is_of_index(choice->getCondition()) ? choice->getNumCases() : 0;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
  return branch && branch->isConditional() && is_of_index(branch->getCondition()) ? 1 : 0;
}

}  // namespace metal::cpu
