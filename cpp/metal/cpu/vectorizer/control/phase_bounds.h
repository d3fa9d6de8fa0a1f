// Which gangs have something to do in a phase.
#pragma once

#include <optional>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/variant.h"

namespace metal::cpu {

class GangDependence;

// Numbers of gangs, from `first` to before `end`: at least one, and none that the threadgroup does
// not have.
struct GangRange {
  llvm::Value *first, *end;
};

// A phase with a loop around it.
struct LoopedPhase {
  llvm::BasicBlock* first = nullptr;  // of `blocks`
  llvm::SmallSetVector<llvm::BasicBlock*, 16> blocks = {};
  llvm::BasicBlock* each_gang = nullptr;        // starts each iteration, before `first`
  llvm::ArrayRef<llvm::Value*> arguments = {};  // of the gang
  const llvm::SmallPtrSetImpl<const llvm::Value*>& variables;  // that all gangs store alike
};

// Finds the gangs that may pass a guard such as `index < n`, if all that the phase does is behind
// such guards, and `n` is the same for all gangs. The others may then be left out: what they reach
// has no effect but on variables that all gangs store alike. So one gang runs in any case, also if
// none passes a guard.
//
// The builder is at the end of the block before the loop. `gangs`: their number.
std::optional<GangRange> find_busy_gangs(llvm::IRBuilder<>& b, const LoopedPhase& phase,
                                         const GangDependence& dependence, const Variant& variant,
                                         llvm::Value* gangs);

}  // namespace metal::cpu
