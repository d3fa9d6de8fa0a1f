// Creates and recognises prefetch instructions.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace metal::cpu {

enum class Cache : unsigned {
  Second = 2,  // the first-level cache accepts few outstanding lines
  First = 3
};

inline llvm::CallInst* create_prefetch(llvm::IRBuilder<>& b, llvm::Value* address, Cache cache,
                                       bool writes = false) {
  return b.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, b.getInt32(writes), b.getInt32(static_cast<unsigned>(cache)), b.getInt32(1)});
}

// Prefetches the cache line that is so many bytes behind the address.
inline void prefetch_line(llvm::IRBuilder<>& b, llvm::Value* address, int64_t bytes, Cache cache) {
  create_prefetch(b, b.CreateConstGEP1_64(b.getInt8Ty(), address, static_cast<uint64_t>(bytes)),
                  cache);
}

inline bool is_prefetch(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
}

}  // namespace metal::cpu
