// Finds the vectors that code keeps in registers.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class TargetTransformInfo;
class Value;
}  // namespace llvm

namespace metal::cpu {

// Those of the processor.
struct VectorRegisters {
  unsigned count;
  unsigned bits;  // of each
};
VectorRegisters vector_registers(const llvm::Function& code,
                                 const llvm::TargetTransformInfo& costs);

// Which vectors are computed before a place and used after it.
class LiveVectors {
 public:
  using Values = llvm::DenseSet<const llvm::Value*>;

  explicit LiveVectors(const llvm::Function& code);

  // The largest sum of the sizes of the vectors that are live after one of the instructions of a
  // block from `first` to `last`.
  unsigned most(const llvm::Instruction& first, const llvm::Instruction& last,
                llvm::function_ref<unsigned(const llvm::Value&)> size) const;

 private:
  Values at_end(const llvm::BasicBlock& block) const;

  llvm::DenseMap<const llvm::BasicBlock*, Values> at_start_;
};

}  // namespace metal::cpu
