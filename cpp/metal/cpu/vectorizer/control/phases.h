// The phases of the code of a gang: what it runs from one barrier to the next.
#pragma once

#include <list>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace metal::cpu {

class GangDependence;

// Blocks that are only entered at the first one. Another phase starts behind a barrier, and where
// the paths of phases join.
struct Phase {
  llvm::BasicBlock* first = nullptr;
};

// A way from one phase to another, or to itself, or out of the function. It is a block of the
// earlier phase.
struct PhaseExit {
  Phase* from;
  Phase* to;  // null: the gang has ended
  llvm::BasicBlock* block;
};

class Phases {
 public:
  using Set = llvm::SmallSetVector<const Phase*, 8>;

  // All gangs must take the same path outside the regions of `dependence`. Barriers are removed,
  // and blocks split. Those of descending_barriers.h separate no phases if `in_row` is true: the
  // gangs are those of one row, and all phases but the first run the last one first.
  Phases(llvm::Function& code, const GangDependence& dependence, bool in_row);

  std::list<Phase>& all() { return phases_; }  // the first one is that of the entry
  llvm::ArrayRef<PhaseExit> exits() const { return exits_; }
  const llvm::MapVector<llvm::BasicBlock*, Phase*>& blocks() const { return phase_of_; }
  Phase* of(llvm::BasicBlock* block) const { return phase_of_.lookup(block); }
  // The phases that may run after this one and before `end`.
  Set after(const Phase& phase, const Phase* end) const;

  // Whether the value is a phi of a phase's first block.
  bool is_start_phi(const llvm::Value* value) const;
  // Whether each gang must run the instruction. Phis at the start of a phase are no work.
  bool differs(const llvm::Instruction& instruction) const;

 private:
  void split_at_barriers(bool in_row);
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> find_starts();
  llvm::BasicBlock* first_conflict(
      llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*>& start_of) const;
  void separate_decisions();
  void find_phases();
  void make_exits();
  void make_exits_of(llvm::BasicBlock& block, Phase& phase);
  void add_exit(const PhaseExit& exit);

  llvm::Function& code_;
  const GangDependence& dependence_;
  llvm::SmallSetVector<llvm::BasicBlock*, 8> starts_;  // the first blocks of phases
  std::list<Phase> phases_;
  llvm::MapVector<llvm::BasicBlock*, Phase*> phase_of_;
  llvm::SmallVector<PhaseExit> exits_;
};

}  // namespace metal::cpu
