// Turns a choice between a loaded value and a constant into a choice of the address to load from.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Where a vector that was read is chosen for all lanes alike, its address is chosen instead: the
// constant lies in memory too. Several registers need no branch around them then, and what is read
// can be the operand of an instruction rather than wait in a register. LLVM's own simplifications
// come before.
void select_addresses(llvm::Module& module);

}  // namespace metal::cpu
