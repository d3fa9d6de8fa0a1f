// The one rule for what vector code may do in lanes that the program keeps out of it.
//
// Vector code runs a block for all lanes of a gang as soon as one of them wants it, and short
// blocks even if none does. In the lanes that a branch keeps out,
// - nothing may trap, touch memory or have effects: such instructions run under a mask;
// - what is only true behind the branch does not hold: flags that say that a sum does not wrap
//   around, and the like;
// - memory may be touched only where every lane's address is known to be readable, whatever the
//   program keeps the lane from.
// Every pass that lets code run for more lanes than asked for it, or earlier, asks here.
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

// Whether an instruction does no harm in lanes that do not want it: it neither traps nor touches
// memory nor has effects. Its result is of no use there, and may be poison.
bool is_speculatable(const llvm::Instruction& instruction);

// Removes what was derived from the branches around an instruction. Afterwards it computes in every
// lane what its operation does to the bits.
void forget_guards(llvm::Instruction& instruction);

// LLVM writes sums as bitwise ors, and signed extensions as unsigned ones, where branches exclude
// that it makes a difference. Takes that back: a lane that is kept out may be the one whose value
// stands for those of all lanes.
void undo_guarded_forms(llvm::Function& body);

// The bytes that lanes read, counted from the first lane's address.
struct Span {
  int64_t lowest;
  int64_t end;
};

// Whether `span` around `pointer` can be read if at least one lane that wants an element in it
// runs. Device memory and threadgroup memory have margins for that.
bool has_margins(const llvm::Value* pointer, Span span);

// Threads' own variables lie in arrays of copies, one for each lane. The distance between the
// copies of one element in bytes; none if `pointer` does not certainly lie in such an array. All
// copies of an element can be read.
void set_copy_distance(llvm::AllocaInst& copies, uint64_t distance);
std::optional<int64_t> copy_distance(const llvm::Value* pointer);

// Whether an address is where a buffer starts that is bound to the kernel.
bool is_buffer_start(const llvm::Value* pointer);

}  // namespace metal::cpu
