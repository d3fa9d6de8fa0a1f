// Decides how many gangs of a threadgroup are worth running at once: see jam_gangs.h.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"
#include "metal/cpu/variant.h"

namespace llvm {
class ScalarEvolution;
class SCEV;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

class GangDependence;
class Growth;

// The arguments that differ between the gangs of a set.
llvm::SmallVector<unsigned> arguments_that_differ(const Variant& variant, uint32_t gangs);

class GangChoice {
 public:
  GangChoice(llvm::Function& code, const Variant& variant, const llvm::TargetTransformInfo& costs);

  // Of gangs that wait for each other, in a threadgroup of known size. They share what they read of
  // a tile, or the rows in which their columns are, or they read on where the gang before ended.
  uint32_t gangs_between_barriers(llvm::FunctionAnalysisManager& analyses) const;

  // Of SIMD-groups beside each other that do not wait. They share what they compute.
  uint32_t gangs_beside() const;

  // Of gangs beside each other whose threads are independent. Each iteration of a loop reads far
  // from the one before, and gangs read beside each other, so together they read more of the memory
  // there.
  uint32_t gangs_of_row(llvm::FunctionAnalysisManager& analyses) const;

 private:
  bool fits_rows(uint32_t gangs) const;
  unsigned registers_of(const llvm::Type& type) const;
  unsigned registers_kept() const;
  bool shares_tile(uint32_t gangs, llvm::FunctionAnalysisManager& analyses) const;
  bool shares_work(uint32_t gangs) const;
  using Reads = llvm::SmallVector<llvm::LoadInst*>;
  uint32_t gangs_that_read_on(llvm::FunctionAnalysisManager& analyses) const;
  Reads reads_beside(llvm::FunctionAnalysisManager& analyses, bool also_in_blocks) const;
  Reads reads_beside(llvm::BasicBlock& block, Growth& beside) const;
  unsigned registers_between(llvm::ArrayRef<llvm::LoadInst*> reads) const;
  llvm::DenseSet<const llvm::BasicBlock*> blocks_in_turn(const GangDependence& dependence) const;
  bool read_neighbouring_columns(uint32_t gangs, llvm::FunctionAnalysisManager& analyses) const;
  uint32_t neighbour(uint32_t gangs) const;
  const llvm::SCEV* at_gang(llvm::ScalarEvolution& evolution, const llvm::SCEV* expression,
                            uint32_t gang) const;

  llvm::Function& code_;
  const Variant& variant_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  unsigned register_bits_, registers_;
};

}  // namespace metal::cpu
