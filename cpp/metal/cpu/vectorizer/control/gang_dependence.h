// What differs between the gangs of a threadgroup, and where they may take different paths.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

// Blocks with one entrance and one exit, without barriers. Gangs may take different paths inside.
struct GangRegion {
  llvm::BasicBlock* entrance = nullptr;
  llvm::BasicBlock* last = nullptr;  // the only block that branches out, without a condition
  llvm::SetVector<llvm::BasicBlock*> blocks;
};

// A branch on which a gang may leave the code before it has had effects.
struct GangGuard {
  llvm::BranchInst* branch;
  bool passes_if;  // the condition of gangs that stay
};

// Finds what is not the same for all gangs. Between barriers, gangs may run in any order, so what
// they read at one address is the same for all of them.
class GangDependence {
 public:
  // `arguments`: those that differ between the gangs.
  GangDependence(llvm::Function& code, llvm::ArrayRef<unsigned> arguments, uint32_t width);

  // Finds branches on which gangs may part, but only if one of them leaves. Regions begin after
  // these.
  void find_guards();

  // Brings the code into a form in which all gangs take the same path outside regions. False if
  // gangs would take different paths to a barrier, or if there are too many regions.
  bool find_regions();

  bool depends(const llvm::Value* value) const { return depends_.contains(value); }
  bool is_guard(const llvm::BasicBlock& block) const;
  llvm::ArrayRef<GangRegion> regions() const { return regions_; }
  llvm::ArrayRef<GangGuard> guards() const { return guards_; }
  const GangRegion* region_of(const llvm::BasicBlock* block) const;

 private:
  void spread();
  bool is_place_in_gang(const llvm::Instruction& instruction) const;
  llvm::BasicBlock* next_branch() const;
  bool add_region(llvm::BasicBlock& branch);
  bool add_exit(GangRegion& region, llvm::BasicBlock& after);

  llvm::Function& code_;
  const uint32_t width_;
  llvm::DenseSet<const llvm::Value*> depends_;
  llvm::SmallVector<GangRegion> regions_;
  llvm::DenseSet<const llvm::BasicBlock*> in_regions_;
  llvm::SmallVector<GangGuard> guards_;
};

}  // namespace metal::cpu
