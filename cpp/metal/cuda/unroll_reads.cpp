#include "metal/cuda/unroll_reads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/cuda/early_reads.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/strided_loop.h"

namespace metal::cuda {
namespace {

// How many iterations run at once, of many instructions or few.
constexpr unsigned kUnrolled = 4, kUnrolledSmall = 8;
constexpr size_t kSmallIteration = 16, kLargestIteration = 96;  // instructions
// LLVM may unroll a loop of so many iterations as a whole.
constexpr unsigned kFewIterations = 32;

size_t size_of_iteration(const llvm::Loop& loop) {
  size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += block->size();
  return size;
}

// Whether LLVM unrolls all loops inside as a whole, such as those over the distances of a scan.
bool has_short_loops_only(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::all_of(loop.getSubLoops(), [&](llvm::Loop* inner) {
    const unsigned iterations = evolution.getSmallConstantTripCount(inner);
    return inner->isInnermost() && iterations != 0 &&
           iterations * size_of_iteration(*inner) <= kLargestIteration;
  });
}

// Whether reads of an iteration need not wait for the iterations before. Reads of a threadgroup's
// memory take few cycles, so they pay only if the loop is known to be long.
bool reads_ahead(const llvm::Loop& loop, bool is_long) {
  bool reads = false, reads_constants = false, writes = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (orders_accesses(instruction)) return false;
      writes |= instruction.mayWriteToMemory();
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      reads |= load && (is_long || load->getPointerAddressSpace() == kGlobal);
      reads_constants |= load && reads_constant_buffer(*load);
    }
  }
  return reads_constants || (reads && !writes);
}

bool has_exchanges(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, exchanges_lanes);
  });
}

// How often a loop from about 0 on would run, as those do that fill a tile. Nothing if that is not
// known.
std::optional<uint64_t> iterations_of(const std::optional<StridedLoop>& strided) {
  if (!strided) return std::nullopt;
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(strided->stride);
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(strided->end);
  if (!stride || !end || stride->isZero()) return std::nullopt;
  return end->getValue().udiv(stride->getValue()).getLimitedValue();
}

// A loop that runs only a few times would be slower: each test of what is left takes its time.
bool may_be_unrolled(const llvm::Loop& loop, const std::optional<StridedLoop>& strided,
                     bool is_row_of_lanes, llvm::ScalarEvolution& evolution) {
  if (llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified) return false;
  const unsigned iterations = evolution.getSmallConstantTripCount(&loop);
  const unsigned at_most = evolution.getSmallConstantMaxTripCount(&loop);
  // All lanes must come to an exchange together, so nothing may be left for a second loop.
  if (has_exchanges(loop))
    return iterations > kUnrolled && iterations % kUnrolled == 0 &&
           has_short_loops_only(loop, evolution) && size_of_iteration(loop) <= kLargestIteration &&
           reads_ahead(loop, true);
  if (!loop.isInnermost()) return false;
  if (iterations != 0 && iterations <= kFewIterations && !is_row_of_lanes) return false;
  if (at_most != 0 && at_most <= kUnrolledSmall) return false;
  if (iterations_of(strided).value_or(kUnrolled) < kUnrolled) return false;
  return size_of_iteration(loop) <= kLargestIteration && reads_ahead(loop, iterations != 0);
}

// For lanes that share a row.
bool count_known_iterations(const StridedLoop& strided, llvm::ScalarEvolution& evolution) {
  const auto iterations = known_iterations(strided);
  if (!iterations) return false;
  end_after(*strided.loop, llvm::ConstantInt::get(strided.sum->getType(), *iterations));
  evolution.forgetLoop(strided.loop);
  return true;
}

void mark(llvm::Loop& loop, const std::optional<StridedLoop>& strided) {
  const bool is_small = size_of_iteration(loop) <= kSmallIteration && !has_exchanges(loop) &&
                        iterations_of(strided).value_or(kUnrolledSmall) >= kUnrolledSmall;
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count",
                                is_small ? kUnrolledSmall : kUnrolled);
}

}  // namespace

llvm::PreservedAnalyses UnrollReadsPass::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  llvm::SmallVector<StridedLoop> strided;
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const auto found = find_strided_loop(*loop);
    const bool is_row_of_lanes = found && evolution.getSmallConstantTripCount(loop) == 0 &&
                                 count_known_iterations(*found, evolution);
    changed |= is_row_of_lanes;
    if (!may_be_unrolled(*loop, found, is_row_of_lanes, evolution)) continue;
    const bool is_counted = evolution.hasLoopInvariantBackedgeTakenCount(loop);
    found && !is_counted ? strided.push_back(*found) : mark(*loop, found);
  }
  for (const StridedLoop& found : strided) {
    llvm::formLCSSA(*found.loop, dominators, &loops, &evolution);
    mark(*split_off_wrapping(found, loops, dominators), found);
  }
  changed |= !strided.empty();
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace metal::cuda
