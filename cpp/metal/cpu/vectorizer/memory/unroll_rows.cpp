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
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"
#include "metal/cpu/codegen/lower.h"
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

constexpr int64_t kRowBytes = 2 * kBlockBytes;  // that an unrolled iteration reads of a row
constexpr uint64_t kMaxIterations = 8;          // in an unrolled iteration
constexpr uint64_t kMaxInstructions = 640;      // of an unrolled loop

// Whether a write to memory may change what the load reads.
bool may_change(const Instruction& write, const LoadInst& load) {
  return write.mayWriteToMemory() && !are_separate(load, write);
}

class RowFinder {
 public:
  RowFinder(llvm::Function& body, const BodyShapes& shapes, llvm::LoopInfo& loops,
            llvm::ScalarEvolution& evolution)
      : layout_(body.getParent()->getDataLayout()),
        post_dominators_(body),
        analysis_(body, shapes, post_dominators_, loops),
        evolution_(evolution) {}

  // How many iterations to unroll; 1 if that does not pay.
  unsigned iterations(const llvm::Loop& loop) {
    if (!loop.isInnermost() || loop.getNumBlocks() != 1 || !loop.isLoopSimplifyForm()) return 1;
    if (analysis_.divergent(&loop)) return 1;
    llvm::BasicBlock& block = *loop.getHeader();
    if (llvm::any_of(block, is_convergent)) return 1;
    int64_t size = 0;
    StrideInLoop strides(loop, evolution_);
    for (Instruction& instruction : block) {
      auto* load = llvm::dyn_cast<LoadInst>(&instruction);
      if (load && reads_row(*load, strides) &&
          llvm::none_of(block, [&](const Instruction& other) { return may_change(other, *load); }))
        size = std::max(size, size_of(*load));
    }
    if (size == 0) return 1;
    const uint64_t count = std::min(static_cast<uint64_t>(kRowBytes / size), kMaxIterations);
    const unsigned trips = evolution_.getSmallConstantTripCount(&loop);
    const bool fits = block.size() * count <= kMaxInstructions && (trips == 0 || trips >= count);
    return fits ? static_cast<unsigned>(count) : 1;
  }

 private:
  static bool is_convergent(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && (call->isConvergent() || call->cannotDuplicate());
  }

  int64_t size_of(const LoadInst& load) const {
    return static_cast<int64_t>(layout_.getTypeStoreSize(load.getType()));
  }

  // Whether iterations read one element after the other, but lanes read elements apart.
  bool reads_row(LoadInst& load, StrideInLoop& strides) {
    Value* address = load.getPointerOperand();
    const int64_t size = size_of(load);
    if (!load.isSimple() || !is_device_memory(address) || kRowBytes % size != 0) return false;
    if (!analysis_.shape(address).may_be_apart(kWidestStride * size)) return false;
    const auto* step = llvm::dyn_cast_or_null<llvm::SCEVConstant>(strides.of(address));
    return step && step->getAPInt().abs() == static_cast<uint64_t>(size);
  }

  const llvm::DataLayout& layout_;
  llvm::PostDominatorTree post_dominators_;
  ShapeAnalysis analysis_;
  llvm::ScalarEvolution& evolution_;
};

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

}  // namespace

bool unroll_rows(llvm::Function& body, const BodyShapes& shapes,
                 llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::LoopSimplifyPass());
  simplify.addPass(llvm::LCSSAPass());
  simplify.run(body, analyses);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  llvm::SmallVector<std::pair<llvm::Loop*, unsigned>> found;
  {
    RowFinder finder(body, shapes, loops, evolution);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const unsigned count = finder.iterations(*loop);
      if (count > 1) found.emplace_back(loop, count);
    }
  }
  llvm::OptimizationRemarkEmitter remarks(&body);
  bool changed = false;
  for (const auto& [loop, count] : found) {
    const bool has_rest = evolution.getSmallConstantTripMultiple(loop) % count != 0;
    llvm::BasicBlock& block = *loop->getHeader();
    const auto result = llvm::UnrollLoop(
        loop,
        {.Count = count,
         .Force = false,
         .Runtime = has_rest,
         .AllowExpensiveTripCount = true,
         .UnrollRemainder = false,
         .ForgetAllSCEV = true},
        &loops, &evolution, &analyses.getResult<llvm::DominatorTreeAnalysis>(body),
        &analyses.getResult<llvm::AssumptionAnalysis>(body),
        &analyses.getResult<llvm::TargetIRAnalysis>(body), &remarks, /*PreserveLCSSA=*/true);
    if (result == llvm::LoopUnrollResult::Unmodified) continue;
    changed = true;
    evolution.forgetAllLoops();
    Neighbours(evolution).relate(block);
  }
  return changed;
}

}  // namespace metal::cpu
