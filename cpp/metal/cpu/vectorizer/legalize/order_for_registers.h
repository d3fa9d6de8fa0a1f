// Orders instructions so that fewer vectors are live at once.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// The code of several rows, one statement of all rows after the other, reads the vectors of all
// rows before it uses the first one. LLVM's scheduler looks at few instructions at once, so it
// keeps them on the stack. Here, blocks of code that need more registers than there are, mostly for
// what they read, compute fewer results at once: as many as fit, if not one after the other.
// Operations on vectors that are longer than a register are split for that. Of an instruction's
// operands, the one that needs most registers comes first (Sethi and Ullman, "The generation of
// optimal code for arithmetic expressions").
//
// It moves an instruction only in front of such that have no effects, and no read of memory past a
// write. It flags a module that has such blocks (kOrdered), so that LLVM does not schedule its
// instructions: that would undo the order.
void order_for_registers(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace metal::cpu
