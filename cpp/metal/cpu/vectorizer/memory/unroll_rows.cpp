#include "metal/cpu/vectorizer/memory/unroll_rows.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/SimplifyIndVar.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/vectorizer/control/row_loops.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/widen/blocks.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::LoadInst;
using llvm::SCEV;
using llvm::Value;

constexpr unsigned kMaxIterations = 16;     // in an unrolled iteration
constexpr uint64_t kMaxInstructions = 640;  // of an unrolled loop

// Whether a write to memory may change what the load reads.
bool may_change(const Instruction& write, const LoadInst& load) {
  return write.mayWriteToMemory() && !are_separate(load, write);
}

// How many iterations become one. A cache line of each lane is read at once: rows are often apart
// by powers of two, so their lines push each other out of the first-level cache before the next
// iteration. What is left of a row is read by blocks.
struct Iterations {
  unsigned in_line = 1;
  unsigned in_block = 1;
};

class RowFinder {
 public:
  RowFinder(llvm::Function& body, const BodyShapes& shapes, llvm::LoopInfo& loops,
            llvm::ScalarEvolution& evolution)
      : layout_(body.getParent()->getDataLayout()),
        post_dominators_(body),
        analysis_(body, shapes, post_dominators_, loops),
        evolution_(evolution) {}

  bool can_share(const llvm::Loop& loop) const {
    return find_row_loop(loop, analysis_, evolution_).has_value();
  }

  bool may_be_ragged(const llvm::Loop& loop) const { return analysis_.divergent(&loop); }

  // Nothing if unrolling does not pay.
  Iterations iterations(const llvm::Loop& loop) {
    if (!loop.isInnermost() || loop.getNumBlocks() != 1 || !loop.isLoopSimplifyForm()) return {};
    if (analysis_.divergent(&loop)) return {};
    llvm::BasicBlock& block = *loop.getHeader();
    if (llvm::any_of(block, is_convergent)) return {};
    const int64_t size = bytes_of_iteration(loop);
    if (size == 0) return {};
    const unsigned trips = evolution_.getSmallConstantTripCount(&loop);
    auto that_read = [size](int64_t bytes) {
      return std::clamp(static_cast<unsigned>(bytes / size), 1u, kMaxIterations);
    };
    unsigned count = that_read(kCacheLine);
    while (block.size() * count > kMaxInstructions || (trips != 0 && trips < count)) count /= 2;
    const unsigned in_block = that_read(kBlockBytes);
    return count < in_block ? Iterations() : Iterations{.in_line = count, .in_block = in_block};
  }

 private:
  static bool is_convergent(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && (call->isConvergent() || call->cannotDuplicate());
  }

  int64_t size_of(const LoadInst& load) const {
    return static_cast<int64_t>(layout_.getTypeStoreSize(load.getType()));
  }

  // How much of its row a lane reads in an iteration, at least half of the elements; 0 if there is
  // no such row.
  int64_t bytes_of_iteration(const llvm::Loop& loop) {
    llvm::SmallDenseMap<int64_t, int64_t> read;
    int64_t most = 0;
    StrideInLoop strides(loop, evolution_);
    llvm::BasicBlock& block = *loop.getHeader();
    for (Instruction& instruction : block) {
      auto* load = llvm::dyn_cast<LoadInst>(&instruction);
      if (!load ||
          llvm::any_of(block, [&](const Instruction& other) { return may_change(other, *load); }))
        continue;
      const int64_t bytes = step_in_row(*load, strides);
      read[bytes] += size_of(*load);
      if (2 * read[bytes] >= bytes) most = std::max(most, bytes);
    }
    return most;
  }

  // How far an iteration goes along the row of a lane, if lanes read elements apart. Otherwise 0.
  int64_t step_in_row(LoadInst& load, StrideInLoop& strides) {
    Value* address = load.getPointerOperand();
    const int64_t size = size_of(load);
    const auto line = static_cast<int64_t>(kCacheLine);
    if (!load.isSimple() || !is_device_memory(address) || line % size != 0) return 0;
    if (!analysis_.shape(address).may_be_apart(kWidestStride * size)) return 0;
    const auto* step = llvm::dyn_cast_or_null<llvm::SCEVConstant>(strides.of(address));
    if (!step || step->getAPInt().abs().ugt(kCacheLine / 2)) return 0;
    const int64_t bytes = std::abs(step->getAPInt().getSExtValue());
    return bytes >= size && line % bytes == 0 ? bytes : 0;
  }

  const llvm::DataLayout& layout_;
  llvm::PostDominatorTree post_dominators_;
  ShapeAnalysis analysis_;
  llvm::ScalarEvolution& evolution_;
};

// An extension of a loop's index that also counts without wrapping around; null if there is none.
const llvm::CastInst* extension_of_index(llvm::PHINode& index, llvm::ScalarEvolution& evolution) {
  if (!index.getType()->isIntegerTy(32)) return nullptr;
  for (llvm::User* user : index.users()) {
    auto* extension = llvm::dyn_cast<llvm::CastInst>(user);
    if (extension && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension) &&
        extension->getType()->isIntegerTy(64) &&
        llvm::isa<llvm::SCEVAddRecExpr>(evolution.getSCEV(extension)))
      return extension;
  }
  return nullptr;
}

// Counts in 64 bits where an index of 32 bits cannot wrap around: unrolled addresses then differ by
// constants.
void widen_indices(llvm::Loop& loop, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
                   llvm::DominatorTree& dominators) {
  const llvm::DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
  llvm::SCEVExpander expander(evolution, layout, "wide");
  llvm::SmallVector<llvm::WeakTrackingVH> dead;
  unsigned extensions = 0, indices = 0;
  for (llvm::PHINode& phi : llvm::make_early_inc_range(loop.getHeader()->phis())) {
    const auto* extension = extension_of_index(phi, evolution);
    if (!extension) continue;
    const llvm::WideIVInfo form{&phi, extension->getType(), llvm::isa<llvm::SExtInst>(extension)};
    llvm::createWideIV(form, &loops, &evolution, expander, &dominators, dead, extensions, indices,
                       /*HasGuards=*/false, /*UsePostIncrementRanges=*/false);
  }
  expander.clear();
  llvm::RecursivelyDeleteTriviallyDeadInstructions(dead);
}

Value* address_of(Instruction& access) {
  Value* address = const_cast<Value*>(llvm::getLoadStorePointerOperand(&access));
  return address && is_device_memory(address) ? address : nullptr;
}

// An address whose only index is extended from 32 bits.
struct ShortIndex {
  llvm::GetElementPtrInst* address = nullptr;
  llvm::CastInst* extension = nullptr;

  static ShortIndex of(Value* address) {
    auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
    if (!place || place->getNumIndices() != 1) return {};
    auto* extension = llvm::dyn_cast<llvm::CastInst>(place->getOperand(1));
    const bool is_short = extension && llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extension) &&
                          extension->getSrcTy()->isIntegerTy(32);
    return is_short ? ShortIndex{place, extension} : ShortIndex{};
  }

  bool has_form_of(const ShortIndex& other) const {
    return address && other.address && extension->getOpcode() == other.extension->getOpcode() &&
           address->getPointerOperand() == other.address->getPointerOperand() &&
           address->getSourceElementType() == other.address->getSourceElementType();
  }
};

// Gives addresses that differ by constants the form of one of them plus a constant.
class Neighbours {
 public:
  explicit Neighbours(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  void relate(llvm::BasicBlock& block) {
    llvm::SmallVector<Value*> first;
    for (Instruction& instruction : block) {
      Value* address = address_of(instruction);
      if (!address || llvm::is_contained(first, address)) continue;
      if (llvm::none_of(first, [&](Value* other) { return replace(instruction, address, other); }))
        first.push_back(address);
    }
  }

 private:
  static std::optional<int64_t> constant(const SCEV* difference) {
    const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(difference);
    if (!known || known->getAPInt().getSignificantBits() > 16) return std::nullopt;
    return known->getAPInt().getSExtValue();
  }

  std::optional<int64_t> distance(Value* to, Value* from) {
    if (to->getType() != from->getType()) return std::nullopt;
    return constant(evolution_.getMinusSCEV(evolution_.getSCEV(to), evolution_.getSCEV(from)));
  }

  // The sums of 32 bits may wrap around, as those of the program do.
  bool replace(Instruction& access, Value* address, Value* other) {
    llvm::IRBuilder<> b(&access);
    Value* related = nullptr;
    const ShortIndex to = ShortIndex::of(address), from = ShortIndex::of(other);
    if (const auto bytes = distance(address, other)) {
      related = b.CreateGEP(b.getInt8Ty(), other, b.getInt64(*bytes));
    } else if (to.has_form_of(from)) {
      Value* start = from.extension->getOperand(0);
      const auto steps = distance(to.extension->getOperand(0), start);
      if (!steps) return false;
      Value* index = b.CreateAdd(start, b.getInt32(static_cast<uint32_t>(*steps)));
      index = b.CreateCast(to.extension->getOpcode(), index, to.extension->getType());
      related =
          b.CreateGEP(to.address->getSourceElementType(), to.address->getPointerOperand(), index);
    } else {
      return false;
    }
    access.replaceUsesOfWith(address, related);
    return true;
  }

  llvm::ScalarEvolution& evolution_;
};

class RowUnroller {
 public:
  RowUnroller(llvm::Function& body, llvm::FunctionAnalysisManager& analyses)
      : loops_(analyses.getResult<llvm::LoopAnalysis>(body)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(body)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(body)),
        assumptions_(analyses.getResult<llvm::AssumptionAnalysis>(body)),
        target_(analyses.getResult<llvm::TargetIRAnalysis>(body)),
        remarks_(&body) {}

  bool run(llvm::Loop& loop, const Iterations& iterations) {
    widen_indices(loop, loops_, evolution_, dominators_);
    llvm::Loop* rest = nullptr;
    if (!unroll(loop, iterations.in_line, &rest)) return false;
    if (rest && iterations.in_block > 1 && iterations.in_block < iterations.in_line)
      unroll(*rest, iterations.in_block, nullptr);
    return true;
  }

 private:
  bool unroll(llvm::Loop& loop, unsigned count, llvm::Loop** rest) {
    llvm::BasicBlock& block = *loop.getHeader();
    const llvm::UnrollLoopOptions options{
        .Count = count,
        .Force = false,
        .Runtime = evolution_.getSmallConstantTripMultiple(&loop) % count != 0,
        .AllowExpensiveTripCount = true,
        .UnrollRemainder = false,
        .ForgetAllSCEV = true};
    const auto result =
        llvm::UnrollLoop(&loop, options, &loops_, &evolution_, &dominators_, &assumptions_,
                         &target_, &remarks_, /*PreserveLCSSA=*/true, rest);
    if (result == llvm::LoopUnrollResult::Unmodified) return false;
    evolution_.forgetAllLoops();
    Neighbours(evolution_).relate(block);
    return true;
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::DominatorTree& dominators_;
  llvm::AssumptionCache& assumptions_;
  const llvm::TargetTransformInfo& target_;
  llvm::OptimizationRemarkEmitter remarks_;
};

enum class Action { Unroll, Leave, Skip };

// Whether there is a loop in which lanes read rows, and that is not skipped.
bool unroll_rows_if(llvm::Function& body, const BodyShapes& shapes,
                    llvm::FunctionAnalysisManager& analyses,
                    llvm::function_ref<Action(const RowFinder&, const llvm::Loop&)> action) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  simplify.run(body, analyses);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  RowFinder finder(body, shapes, loops, analyses.getResult<llvm::ScalarEvolutionAnalysis>(body));
  llvm::SmallVector<std::pair<llvm::Loop*, Iterations>> found;
  bool reads_rows = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const Iterations iterations = finder.iterations(*loop);
    const bool unrolls = iterations.in_line > 1;
    const Action next =
        unrolls || finder.may_be_ragged(*loop) ? action(finder, *loop) : Action::Skip;
    if (unrolls && next == Action::Unroll) found.emplace_back(loop, iterations);
    reads_rows |= next == Action::Leave;
  }
  RowUnroller unroller(body, analyses);
  for (const auto& [loop, form] : found) reads_rows |= unroller.run(*loop, form);
  return reads_rows;
}

}  // namespace

bool unroll_rows(llvm::Function& body, const BodyShapes& shapes,
                 llvm::FunctionAnalysisManager& analyses, bool leaves_shared) {
  return unroll_rows_if(
      body, shapes, analyses, [&](const RowFinder& finder, const llvm::Loop& loop) {
        return leaves_shared && finder.can_share(loop) ? Action::Leave : Action::Unroll;
      });
}

void unroll_rows_of(llvm::Function& body, const BodyShapes& shapes,
                    llvm::FunctionAnalysisManager& analyses,
                    const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& headers) {
  unroll_rows_if(body, shapes, analyses, [&](const RowFinder&, const llvm::Loop& loop) {
    return headers.contains(loop.getHeader()) ? Action::Unroll : Action::Skip;
  });
}

}  // namespace metal::cpu
