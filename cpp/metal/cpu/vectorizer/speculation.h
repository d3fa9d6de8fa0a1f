// Decides what vector code may do in inactive lanes. All passes use these functions.
//
// Vector code runs a block for all lanes of a gang as soon as one of them is active, and short
// blocks even if none is. In inactive lanes,
// - nothing may trap, touch memory or have effects: such instructions run under a mask;
// - facts that only hold behind the branch are not true: flags that say that a sum does not wrap
// around, for example;
// - memory may be read only if every lane's address is known to be readable, whatever the lane's
// values are.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class AllocaInst;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace metal::cpu {

// Whether an instruction may run in inactive lanes: it neither traps nor touches memory nor has
// effects. Its result there is not used, and may be poison.
bool is_speculatable(const llvm::Instruction& instruction);

// Whether others may see that an instruction has run, so that speculative code cannot bail out
// afterwards.
bool has_effects(const llvm::Instruction& instruction);

// Whether threads that do not wait for each other may run an instruction in turns, although each of
// them would run its own code as a whole.
bool can_take_turns(const llvm::Instruction& instruction);

// Removes the flags of an instruction that hold only because of the branches around it. Afterwards
// it computes in every lane what its operation does to the bits.
void forget_guards(llvm::Instruction& instruction);

// LLVM writes sums as bitwise ors, and signed extensions as unsigned ones, where branches exclude
// the cases that differ. This undoes that, as lane 0 may be inactive while the values of other
// lanes are computed from its value.
void undo_guarded_forms(llvm::Function& body);

// The bytes that lanes read, relative to lane 0's address.
struct Span {
  int64_t lowest;
  int64_t end;
};

// Whether `span` around `pointer` can be read if at least one lane with an element in it is active.
// Device memory and threadgroup memory have margins for this.
bool has_margins(const llvm::Value* pointer, Span span);

// The distance in bytes between the lanes' copies of an element of a private variable; none if
// `pointer` is not known to point into such a variable. All copies of an element can be read.
void set_copy_distance(llvm::AllocaInst& copies, uint64_t distance);
std::optional<int64_t> copy_distance(const llvm::Value* pointer);

// Whether the pointer is the start of a buffer that is bound to the kernel.
bool is_buffer_start(const llvm::Value* pointer);

}  // namespace metal::cpu
