#include "metal/cpu/vectorizer/control/gang_choice.h"

#include <algorithm>

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/repetition.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/control/live_vectors.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/columns.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/prefetch/stride_of_gangs.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr uint32_t kMostGangs = 16;         // a power of two
constexpr size_t kMostInstructions = 6000;  // of jammed code
// Of jammed gangs that do not share a tile. More would save some time, and take long to compile.
constexpr size_t kMostBeside = 3000;
constexpr uint32_t kFewGangs = 4;
constexpr size_t kFewInstructions = 1200;

// Of gangs that read beside each other: more than a few cache lines are read no faster.
constexpr uint32_t kMostInRow = 8;
// Processors follow what loops read less far apart.
constexpr uint64_t kFarApart = 1024;  // bytes

// Whether SIMD-groups that do not wait may run the instruction in turns: others could only see that
// by atomic operations, and calls may have these.
bool keeps_order(const Instruction& instruction) {
  if (instruction.isAtomic() || instruction.isVolatile()) return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !call || llvm::isa<llvm::IntrinsicInst>(call) || !has_effects(*call);
}

bool has_far_stride(llvm::ArrayRef<llvm::LoadInst*> reads, const llvm::Loop& loop,
                    llvm::ScalarEvolution& evolution) {
  StrideInLoop strides(loop, evolution);
  return llvm::any_of(reads, [&](llvm::LoadInst* read) {
    const llvm::SCEV* stride = strides.of(read->getPointerOperand());
    const auto* known = llvm::dyn_cast_or_null<llvm::SCEVConstant>(stride);
    return stride && (!known || known->getAPInt().abs().uge(kFarApart));
  });
}

bool are_far_apart(llvm::ArrayRef<llvm::LoadInst*> reads, llvm::ScalarEvolution& evolution) {
  auto address = [&](llvm::LoadInst* read) { return evolution.getSCEV(read->getPointerOperand()); };
  return llvm::any_of(reads, [&](llvm::LoadInst* read) {
    const auto* apart = llvm::dyn_cast<llvm::SCEVConstant>(
        evolution.getMinusSCEV(address(read), address(reads.front())));
    return apart && apart->getAPInt().abs().uge(kFarApart);
  });
}

}  // namespace

llvm::SmallVector<unsigned> arguments_that_differ(const Variant& variant, uint32_t gangs) {
  if (variant.gangs_in_row == 0) return {kIndexArgument, kXArgument};
  llvm::SmallVector<unsigned> arguments{kIndexArgument};
  if (variant.gangs_in_row > 1) arguments.push_back(kXArgument);
  if (gangs > variant.gangs_in_row) arguments.push_back(kYArgument);
  return arguments;
}

GangChoice::GangChoice(llvm::Function& code, const Variant& variant,
                       const llvm::TargetTransformInfo& costs)
    : code_(code), variant_(variant), dominators_(code), loops_(dominators_) {
  const VectorRegisters registers = vector_registers(code, costs);
  register_bits_ = registers.bits;
  registers_ = registers.count;
}

uint32_t GangChoice::gangs_between_barriers(llvm::FunctionAnalysisManager& analyses) const {
  const unsigned kept = std::max(registers_kept(), 1u);
  uint32_t gangs = kMostGangs;
  // Half of the registers are for what is not kept.
  while (gangs > 1 && (!fits_rows(gangs) || 2 * gangs * kept > registers_ ||
                       size_t{gangs} * code_.getInstructionCount() > kMostInstructions))
    gangs /= 2;
  if (gangs > 1 && shares_tile(gangs, analyses)) return gangs;
  // A block has the columns of a few gangs. More only save barriers, if the code stays short.
  while (gangs > kFewGangs &&
         (!fits_rows(gangs) || size_t{gangs} * code_.getInstructionCount() > kFewInstructions))
    gangs /= 2;
  if (gangs > 1 && fits_rows(gangs) && read_neighbouring_columns(gangs, analyses)) return gangs;
  return gangs_that_read_on(analyses);
}

// Of a row whose gangs read beside each other, between reads that are far apart.
uint32_t GangChoice::gangs_that_read_on(llvm::FunctionAnalysisManager& analyses) const {
  uint32_t gangs = kMostInRow;
  while (gangs > 1 && (variant_.gangs_in_row % gangs != 0 ||
                       size_t{gangs} * code_.getInstructionCount() > kMostBeside))
    gangs /= 2;
  if (gangs == 1) return 1;
  analyses.clear();
  const Reads reads = reads_beside(analyses, /*also_in_blocks=*/true);
  analyses.clear();
  if (reads.empty()) return 1;
  const unsigned kept = std::max(registers_between(reads), 1u);
  // Half of the registers are for what is not kept.
  while (gangs > 1 && 2 * gangs * kept > registers_) gangs /= 2;
  return gangs;
}

uint32_t GangChoice::gangs_beside() const {
  if (loops_.empty() || !llvm::all_of(llvm::instructions(code_), keeps_order)) return 1;
  const unsigned kept = std::max(registers_kept(), 1u);
  uint32_t gangs = variant_.gangs_at_once;
  // A quarter of the registers is for what is not kept.
  while (gangs > 1 && (4 * gangs * kept > 3 * registers_ ||
                       size_t{gangs} * code_.getInstructionCount() > kMostBeside))
    gangs /= 2;
  return gangs > 1 && shares_work(gangs) ? gangs : 1;
}

uint32_t GangChoice::gangs_of_row(llvm::FunctionAnalysisManager& analyses) const {
  if (loops_.empty() || !llvm::all_of(llvm::instructions(code_), keeps_order)) return 1;
  const unsigned kept = std::max(registers_kept(), 1u);
  uint32_t gangs = kMostInRow;
  while (gangs > 1 && (4 * gangs * kept > 3 * registers_ ||
                       size_t{gangs} * code_.getInstructionCount() > kMostBeside))
    gangs /= 2;
  if (gangs == 1) return 1;
  analyses.clear();
  const bool pays = !reads_beside(analyses, /*also_in_blocks=*/false).empty();
  analyses.clear();
  return pays ? gangs : 1;
}

bool GangChoice::fits_rows(uint32_t gangs) const {
  const uint32_t in_row = variant_.gangs_in_row;
  return gangs <= in_row ? in_row % gangs == 0
                         : gangs % in_row == 0 && in_row * variant_.rows % gangs == 0;
}

unsigned GangChoice::registers_of(const llvm::Type& type) const {
  if (!type.isVectorTy() || type.getScalarType()->isIntegerTy(1)) return 0;
  return llvm::divideCeil(static_cast<unsigned>(type.getPrimitiveSizeInBits().getFixedValue()),
                          register_bits_);
}

// The registers with what the iterations of a loop read of earlier ones, and of the code before
// the loop; the most of any loop.
unsigned GangChoice::registers_kept() const {
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

// Whether loops read a good part of threadgroup memory that they read for all gangs of a set, or
// for some of them: those beside or below each other.
bool GangChoice::shares_tile(uint32_t gangs, llvm::FunctionAnalysisManager& analyses) const {
  analyses.clear();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(code_);
  const GangDependence dependence(code_, arguments_that_differ(variant_, gangs), variant_.width);
  auto is_the_same = [&](llvm::LoadInst& load, uint32_t gang) {
    const llvm::SCEV* address = evolution.getSCEV(load.getPointerOperand());
    return at_gang(evolution, address, gang) == at_gang(evolution, address, 0);
  };
  const auto in_turn = blocks_in_turn(dependence);
  unsigned all = 0, shared = 0;
  for (Instruction& instruction : llvm::instructions(code_)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !reads_threadgroup_memory(*load) || !loops_.getLoopFor(load->getParent()))
      continue;
    const unsigned registers = std::max(registers_of(*load->getType()), 1u);
    all += registers;
    const bool is_shared = !in_turn.contains(load->getParent()) &&
                           (!dependence.depends(load) || is_the_same(*load, 1) ||
                            is_the_same(*load, neighbour(gangs)));
    shared += is_shared ? registers : 0;
  }
  analyses.clear();
  return 4 * shared > all;
}

// Whether a good part of the vectors that loops compute are made of what all gangs of a set read.
// The numbers of lanes and masks of loops are cheap to compute again.
bool GangChoice::shares_work(uint32_t gangs) const {
  GangDependence dependence(code_, arguments_that_differ(variant_, gangs), variant_.width);
  dependence.find_guards();
  const auto in_turn = blocks_in_turn(dependence);
  unsigned all = 0, shared = 0;
  llvm::DenseSet<const Value*> read;
  for (const Instruction& instruction : llvm::instructions(code_)) {
    if (instruction.mayReadFromMemory() ||
        llvm::any_of(instruction.operands(), [&](auto& operand) { return read.contains(operand); }))
      read.insert(&instruction);
    const BasicBlock* block = instruction.getParent();
    if (!loops_.getLoopFor(block) || llvm::isa<llvm::PHINode>(instruction)) continue;
    const unsigned registers = registers_of(*instruction.getType());
    all += registers;
    if (read.contains(&instruction) && !dependence.depends(&instruction) &&
        !in_turn.contains(block))
      shared += registers;
  }
  return 4 * shared > all;
}

// The reads of device memory that gangs run together, each beside that of the gang before and far
// from the read in the iteration before, or, if `also_in_blocks`, from others of its block.
GangChoice::Reads GangChoice::reads_beside(llvm::FunctionAnalysisManager& analyses,
                                           bool also_in_blocks) const {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(code_);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(code_);
  GangDependence dependence(code_, arguments_that_differ(variant_, kMostInRow), variant_.width);
  dependence.find_guards();
  const auto in_turn = blocks_in_turn(dependence);
  StrideOfGangs beside(dependence, variant_.width, evolution);
  Reads found;
  for (BasicBlock& block : code_) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    if (in_turn.contains(&block) || (loop ? !loop->isInnermost() : !also_in_blocks)) continue;
    const Reads reads = reads_beside(block, beside);
    if (loop ? has_far_stride(reads, *loop, evolution) : are_far_apart(reads, evolution))
      found.append(reads);
  }
  return found;
}

GangChoice::Reads GangChoice::reads_beside(BasicBlock& block, Growth& beside) const {
  const auto& layout = code_.getParent()->getDataLayout();
  Reads found;
  for (Instruction& instruction : block) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->getType()->isVectorTy() || !is_device_memory(load->getPointerOperand()))
      continue;
    const auto* gap =
        llvm::dyn_cast_or_null<llvm::SCEVConstant>(beside.of(load->getPointerOperand()));
    if (gap && gap->getAPInt() == layout.getTypeStoreSize(load->getType())) found.push_back(load);
  }
  return found;
}

// The most registers that a gang needs from the first of the reads of a block to the last one, or
// in an iteration.
unsigned GangChoice::registers_between(llvm::ArrayRef<llvm::LoadInst*> reads) const {
  const LiveVectors live(code_);
  auto size = [&](const Value& value) { return registers_of(*value.getType()); };
  unsigned most = 0;
  for (size_t i = 0, end; i < reads.size(); i = end) {
    const BasicBlock* block = reads[i]->getParent();
    for (end = i + 1; end < reads.size() && reads[end]->getParent() == block;) ++end;
    const bool repeats = loops_.getLoopFor(block) != nullptr;
    const Instruction& first = repeats ? block->front() : *reads[i];
    const Instruction& last = repeats ? block->back() : *reads[end - 1];
    most = std::max(most, live.most(first, last, size));
  }
  return most;
}

// The blocks that gangs run one after the other: those behind a branch on which gangs may part,
// up to where their paths join. They are the whole loop if gangs may leave it at different times.
llvm::DenseSet<const BasicBlock*> GangChoice::blocks_in_turn(
    const GangDependence& dependence) const {
  const llvm::PostDominatorTree post_dominators(code_);
  llvm::DenseSet<const BasicBlock*> found;
  for (BasicBlock& branch : code_) {
    if (!dependence.depends(branch.getTerminator()) || dependence.is_guard(branch)) continue;
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
bool GangChoice::read_neighbouring_columns(uint32_t gangs,
                                           llvm::FunctionAnalysisManager& analyses) const {
  if (llvm::none_of(llvm::instructions(code_), is_column)) return false;
  analyses.clear();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(code_);
  const auto& post_dominators = analyses.getResult<llvm::PostDominatorTreeAnalysis>(code_);
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
  analyses.clear();
  return found;
}

// The gang beside the first one: in the next row, if the set has several.
uint32_t GangChoice::neighbour(uint32_t gangs) const {
  return gangs > variant_.gangs_in_row ? variant_.gangs_in_row : 1;
}

// What the expression is in one of the first gangs of a threadgroup.
const llvm::SCEV* GangChoice::at_gang(llvm::ScalarEvolution& evolution,
                                      const llvm::SCEV* expression, uint32_t gang) const {
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

}  // namespace metal::cpu
