// Hints to bring memory into a cache.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace metal::cpu {

enum class Cache : unsigned {
  Second = 2,  // the first awaits few lines at a time
  First = 3
};

inline void create_prefetch(llvm::IRBuilder<>& b, llvm::Value* address, Cache cache,
                            bool writes = false) {
  b.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, b.getInt32(writes), b.getInt32(static_cast<unsigned>(cache)), b.getInt32(1)});
}

inline Cache cache_of(const llvm::IntrinsicInst& prefetch) {
  return Cache(llvm::cast<llvm::ConstantInt>(prefetch.getArgOperand(2))->getZExtValue());
}

}  // namespace metal::cpu
