#include "metal/cpu/vectorizer/prefetch/read_in_order.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"

namespace metal::cpu {
namespace {

using llvm::LoadInst;

// Of a vector in a loop whose iterations read on where the one before ended. Processors follow
// shorter ones in any order.
constexpr uint64_t kPartOfStream = 4 * kCacheLine;
// Of a vector that is a stream by itself.
constexpr uint64_t kStreamBytes = 16 * kCacheLine;

uint64_t bytes_of(const LoadInst& load) {
  return load.getModule()->getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
}

// Whether elements move. Otherwise LLVM loads a vector from its start to its end.
bool is_shuffled(const LoadInst& load) {
  return llvm::any_of(load.users(), [](const llvm::User* user) {
    const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(user);
    int first = 0;
    return shuffle && !shuffle->isExtractSubvectorMask(first);
  });
}

// Finds vectors that are streams of memory, or parts of one. Behind the end of a shorter vector, a
// processor that follows it would read in vain.
class Streams {
 public:
  Streams(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)) {}

  bool has(LoadInst& load) {
    if (!load.getType()->isVectorTy() || !load.isSimple() || bytes_of(load) < kPartOfStream ||
        !is_device_memory(load.getPointerOperand()) || !is_shuffled(load))
      return false;
    return bytes_of(load) >= kStreamBytes || continues(load);
  }

 private:
  bool continues(LoadInst& load) {
    const llvm::Loop* loop = loops_.getLoopFor(load.getParent());
    if (!loop) return false;
    const auto* stride = llvm::dyn_cast_or_null<llvm::SCEVConstant>(
        StrideInLoop(*loop, evolution_).of(load.getPointerOperand()));
    return stride && !stride->isZero() && stride->getAPInt().abs().ule(bytes_of(load));
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
};

void touch_lines(LoadInst& load) {
  llvm::IRBuilder<> b(&load);
  for (uint64_t offset = 0; offset < bytes_of(load); offset += kCacheLine) {
    create_prefetch(b, b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(), offset),
                    Cache::First);
  }
}

}  // namespace

void read_in_order(llvm::Module& module, llvm::FunctionAnalysisManager& analyses) {
  analyses.clear();
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    Streams streams(function, analyses);
    llvm::SmallVector<LoadInst*> reads;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<LoadInst>(&instruction);
      if (load && streams.has(*load)) reads.push_back(load);
    }
    for (LoadInst* read : reads) touch_lines(*read);
  }
  analyses.clear();
}

}  // namespace metal::cpu
