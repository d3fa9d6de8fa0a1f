// Finds how far addresses move from one iteration, or from one gang, to the next.
#pragma once

#include <optional>

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class SCEV;
class ScalarEvolution;
class Value;
}  // namespace llvm

namespace metal::cpu {

// How much values grow in a step of some kind. It ignores wrap-around, so it tells what pays, not
// what is right.
class Growth {
 public:
  explicit Growth(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}
  virtual ~Growth() = default;

  // As i64, in bytes for an address; null if the growth changes.
  const llvm::SCEV* of(llvm::Value* value);

 protected:
  // What a value grows by itself, null as above, or nothing if its operands tell.
  virtual std::optional<const llvm::SCEV*> of_leaf(const llvm::SCEV* value) = 0;
  const llvm::SCEV* of(const llvm::SCEV* value);
  const llvm::SCEV* as_long(const llvm::SCEV* value);
  const llvm::SCEV* constant(uint64_t number);

  llvm::ScalarEvolution& evolution_;

 private:
  const llvm::SCEV* compute(const llvm::SCEV* value);

  llvm::DenseMap<const llvm::SCEV*, const llvm::SCEV*> known_;
};

}  // namespace metal::cpu
