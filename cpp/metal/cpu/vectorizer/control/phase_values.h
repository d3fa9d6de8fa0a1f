// What phases know of the values that other phases compute.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/vectorizer/control/phases.h"

namespace llvm {
class DominatorTree;
}  // namespace llvm

namespace metal::cpu {

class GangDependence;

// Memory that has a part for each gang.
class GangMemory {
 public:
  void allocate(llvm::IRBuilder<>& b, const char* name);
  // Returns the offset of so many bytes in each part.
  uint64_t add(uint64_t bytes, llvm::Align align);
  // The part of the gang with this number, which is an i64.
  llvm::Value* part(llvm::IRBuilder<>& b, llvm::Value* gang);
  // Sets the size, which is known when nothing is added any more. `gangs`: their number.
  void finish(llvm::Value* gangs);

 private:
  llvm::AllocaInst* memory_ = nullptr;
  uint64_t size_ = 0;
  llvm::Align align_;
  llvm::SmallVector<llvm::BinaryOperator*> offsets_;
};

// The start of a phase in the code of all gangs.
struct PhaseStart {
  llvm::BasicBlock* once = nullptr;       // runs once, before the loop over the gangs
  llvm::BasicBlock* each_gang = nullptr;  // starts each iteration; the same block without a loop
  llvm::SmallVector<llvm::Value*> arguments;
  llvm::Value *frame = nullptr, *private_memory = nullptr;  // of the gang
  llvm::DenseMap<llvm::Value*, llvm::Value*> values;        // those of other phases, as known here
};

// Values of other phases are computed again, if that is cheap. Others are stored: in a variable, if
// they are the same for all gangs, or else in the frame of each gang. A phi at the start of a phase
// becomes such a place, which the phases before it store to. Variables of a thread get a part of
// memory for each gang.
class PhaseValues {
 public:
  PhaseValues(llvm::Function& code, Phases& phases, const GangDependence& dependence);

  // Whether each gang must run the phase, not only one for all.
  bool differs(const Phase& phase) const { return differing_.contains(&phase); }

  // Allocates memory at the builder's position, in the new entry block.
  void allocate(llvm::IRBuilder<>& b);
  // Notes how a phase starts. The builder is at the end of its start; `gang`: the gang's number.
  void start(const Phase& phase, PhaseStart start, llvm::IRBuilder<>& b, llvm::Value* gang);
  // Replaces what phases use of other phases, once all have a start.
  void pass_on();
  // The addresses of variables, to which all gangs store the same.
  const llvm::SmallPtrSetImpl<const llvm::Value*>& variables() const { return variables_; }
  // Sets the sizes of memory. `gangs`: their number.
  void finish(llvm::Value* gangs);

 private:
  // A variable, or an offset in a frame.
  struct Slot {
    llvm::AllocaInst* variable = nullptr;
    uint64_t offset = 0;
    llvm::Align align{1};
  };

  void find_shared_slots();
  bool can_share(llvm::Instruction& value, llvm::PHINode& phi,
                 const llvm::DominatorTree& dominators) const;
  bool has_next_value(llvm::PHINode& phi, const PhaseExit& exit) const;
  void find_differing();
  void share_variables();

  void store_phis();
  void replace_operands();
  void remove_replaced();
  llvm::Value* value_in(Phase& phase, llvm::Value* value);
  llvm::Value* private_memory(const PhaseStart& start, llvm::AllocaInst& variable);
  unsigned cost_of_recomputing(const llvm::Instruction& instruction, unsigned depth = 0) const;
  llvm::Value* recompute(Phase& phase, llvm::Instruction& instruction);
  llvm::Value* load(const PhaseStart& start, llvm::Instruction& value);
  Slot slot_of(llvm::Instruction& value);
  Slot new_slot(const llvm::Instruction& value);
  llvm::Value* address_of(const PhaseStart& start, const Slot& slot);

  llvm::Function& code_;
  Phases& phases_;
  const GangDependence& dependence_;
  llvm::IRBuilder<> b_;
  llvm::SmallPtrSet<const Phase*, 8> differing_;
  llvm::BasicBlock* entry_ = nullptr;
  GangMemory frames_, private_;
  llvm::DenseMap<const Phase*, PhaseStart> starts_;
  llvm::MapVector<llvm::Instruction*, Slot> slots_;
  llvm::SmallPtrSet<const llvm::Value*, 8> variables_;
  llvm::DenseMap<const llvm::Value*, llvm::PHINode*> next_of_;  // the phi whose slot a value shares
  llvm::DenseMap<llvm::AllocaInst*, uint64_t> private_offsets_;
};

}  // namespace metal::cpu
