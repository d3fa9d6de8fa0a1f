#include "metal/cpu/vectorizer/prefetch/read_in_order.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

using llvm::LoadInst;

// Of a vector that is a stream by itself. Processors follow shorter ones in any order.
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

bool is_stream(const LoadInst& load) {
  return load.getType()->isVectorTy() && load.isSimple() && bytes_of(load) >= kStreamBytes &&
         is_device_memory(load.getPointerOperand()) && is_shuffled(load);
}

void touch_lines(LoadInst& load) {
  llvm::IRBuilder<> b(&load);
  for (uint64_t offset = 0; offset < bytes_of(load); offset += kCacheLine) {
    prefetch_line(b, load.getPointerOperand(), offset, Cache::First);
  }
}

}  // namespace

void read_in_order(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      if (llvm::any_of(block, is_prefetch)) continue;
      llvm::SmallVector<LoadInst*> reads;
      for (llvm::Instruction& instruction : block) {
        auto* load = llvm::dyn_cast<LoadInst>(&instruction);
        if (load && is_stream(*load)) reads.push_back(load);
      }
      for (LoadInst* read : reads) touch_lines(*read);
    }
  }
}

}  // namespace metal::cpu
