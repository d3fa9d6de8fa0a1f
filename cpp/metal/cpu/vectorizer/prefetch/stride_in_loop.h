// Finds the distance in memory between a loop's iterations.
#pragma once

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class Loop;
class SCEV;
class ScalarEvolution;
class Value;
}  // namespace llvm

namespace metal::cpu {

class StrideInLoop {
 public:
  StrideInLoop(const llvm::Loop& loop, llvm::ScalarEvolution& evolution)
      : loop_(loop), evolution_(evolution) {}

  // The bytes from one iteration to the next, as i64; null if the distance changes. It ignores
  // wrap-around, so it may be used for prefetches, not for accesses.
  const llvm::SCEV* of(llvm::Value* address);

 private:
  const llvm::SCEV* stride(const llvm::SCEV* value);
  const llvm::SCEV* compute(const llvm::SCEV* value);
  const llvm::SCEV* as_long(const llvm::SCEV* value);

  const llvm::Loop& loop_;
  llvm::ScalarEvolution& evolution_;
  llvm::DenseMap<const llvm::SCEV*, const llvm::SCEV*> known_;
};

}  // namespace metal::cpu
