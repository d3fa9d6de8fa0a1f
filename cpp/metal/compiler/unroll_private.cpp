#include "metal/compiler/unroll_private.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/matrix_calls.h"

namespace metal::compiler {
namespace {

constexpr unsigned kMaxUnrolledIterations = 64;
constexpr unsigned kMaxRun = 8;  // elements that stay interleaved
constexpr unsigned kMaxRunInstructions = 512;

// Whether a value changes between iterations of this loop, not only of inner loops.
bool changes(const llvm::SCEV* value, const llvm::Loop& loop) {
  return llvm::SCEVExprContains(value, [&](const llvm::SCEV* part) {
    if (const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part))
      return steps->getLoop() == &loop;
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    const auto* instruction =
        unknown ? llvm::dyn_cast<llvm::Instruction>(unknown->getValue()) : nullptr;
    return instruction && loop.contains(instruction);
  });
}

// Whether such a value indexes a private variable.
bool indexes_private(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (address && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address)) &&
          changes(evolution.getSCEV(address), loop))
        return true;
    }
  }
  return false;
}

bool is_device(unsigned address_space) {
  return address_space == static_cast<unsigned>(AddressSpace::Device);
}

// Whether the loop stores one element after the other to device memory: a run of the thread.
bool stores_run(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost()) return false;
  const llvm::DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || !store->isSimple() || !is_device(store->getPointerAddressSpace())) continue;
      const auto* steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(
          evolution.getSCEV(const_cast<llvm::Value*>(store->getPointerOperand())));
      const auto* step = steps && steps->getLoop() == &loop && steps->isAffine()
                             ? llvm::dyn_cast<llvm::SCEVConstant>(steps->getOperand(1))
                             : nullptr;
      if (step && step->getAPInt() == layout.getTypeStoreSize(store->getValueOperand()->getType()))
        return true;
    }
  }
  return false;
}

// Whether SIMD-groups wait for each other here. The lanes of a SIMD-group always run in lockstep.
bool is_threadgroup_barrier(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front(compiler::kRuntimePrefix) || name != "barrier") return false;
  const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  return !scope || !scope->isZero();
}

// Whether the loop adds products of matrices, without barriers.
bool adds_products(const llvm::Loop& loop) {
  bool adds = false;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (is_threadgroup_barrier(instruction)) return false;
      adds |= is_matrix_product(instruction);
    }
  }
  return adds;
}

// The iterations of the loop; 0 if they are not known when code is generated. LLVM cannot exclude
// that some loops end after the first iteration, as in a run from 4 i to 4 i + 4. It unrolls them
// with exits, which go away later. The exits of short loops over private elements stay: they end
// early, such as a loop that looks for a place in a sorted list.
unsigned iterations(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (const unsigned exact = evolution.getSmallConstantTripCount(&loop)) return exact;
  const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
  if (evolution.isBackedgeTakenCountMaxOrZero(&loop)) return most;
  return most <= kMaxRun && loop.isInnermost() && indexes_private(loop, evolution) ? most : 0;
}

uint64_t size_of_blocks(const llvm::Loop& loop, unsigned load_size) {
  uint64_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      size += load && is_device(load->getPointerAddressSpace()) ? load_size : 1;
    }
  }
  return size;
}

// The size of the loop if it and all its inner loops are unrolled.
uint64_t unrolled_size(const llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                       unsigned load_size) {
  const unsigned count = std::max(iterations(loop, evolution), 1u);
  uint64_t size = size_of_blocks(loop, load_size);
  for (llvm::Loop* inner : loop) {
    size -= size_of_blocks(*inner, load_size);
    size += unrolled_size(*inner, evolution, load_size);
  }
  return std::min(size * count, uint64_t{UINT32_MAX});
}

}  // namespace

llvm::PreservedAnalyses UnrollPrivatePass::run(llvm::Function& body,
                                               llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const unsigned count = iterations(*loop, evolution);
    if (count == 0 || count > kMaxUnrolledIterations) continue;
    const uint64_t size = unrolled_size(*loop, evolution, load_size_);
    const bool unrolls = indexes_private(*loop, evolution) || adds_products(*loop);
    const bool is_run = count <= kMaxRun && size <= kMaxRunInstructions;
    if (!(unrolls && size <= max_instructions_) && !(is_run && stores_run(*loop, evolution)))
      continue;
    const bool is_exact = evolution.getSmallConstantTripCount(loop) != 0;
    llvm::addStringMetadataToLoop(
        loop, is_exact ? "llvm.loop.unroll.full" : "llvm.loop.unroll.enable", 1);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace metal::compiler
