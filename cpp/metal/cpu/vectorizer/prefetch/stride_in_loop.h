// Finds the distance in memory between a loop's iterations.
#pragma once

#include "metal/cpu/vectorizer/prefetch/growth.h"

namespace llvm {
class Loop;
}

namespace metal::cpu {

// From one iteration to the next.
class StrideInLoop : public Growth {
 public:
  StrideInLoop(const llvm::Loop& loop, llvm::ScalarEvolution& evolution)
      : Growth(evolution), loop_(loop) {}

 private:
  std::optional<const llvm::SCEV*> of_leaf(const llvm::SCEV* value) override;

  const llvm::Loop& loop_;
};

}  // namespace metal::cpu
