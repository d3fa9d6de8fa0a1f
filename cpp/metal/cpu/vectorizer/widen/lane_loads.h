// Indices that atomic operations in threadgroup memory read lane by lane, as those of a histogram.
// An index of one lane goes from device memory to the address, without a vector in between: moves
// from vectors to scalar registers are slow.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// How one lane computes the address of an atomic operation.
struct LaneAddress {
  llvm::LoadInst* load;
  // From the load's value to the address, the first one first. Each has one operand that is not
  // uniform: what the instruction before it computes.
  llvm::SmallVector<llvm::Instruction*, 4> steps;
};

class LaneLoads {
 public:
  LaneLoads(Widener& widener, llvm::Function& body);

  // Null if the operation's address has to come from a vector.
  const LaneAddress* address_of(const llvm::AtomicRMWInst& operation) const;
  // Whether the value is computed for such addresses only, and has no vector.
  bool has_no_vector(const llvm::Value& value) const { return without_vector_.contains(&value); }

 private:
  void find_address(llvm::AtomicRMWInst& operation);
  bool may_read_again(const llvm::LoadInst& load) const;
  void find_without_vector();

  Widener& w_;
  llvm::MapVector<const llvm::AtomicRMWInst*, LaneAddress> addresses_;
  llvm::DenseSet<const llvm::Value*> without_vector_;
};

// Computes a lane's address from what it loads at `place`.
llvm::Value* compute_address(Widener& w, const LaneAddress& address, llvm::Value* place);

}  // namespace metal::cpu
