// Turns a select between a loaded value and a constant into a select of the address to load from.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// Where one bit selects between a loaded vector and a constant, it selects the address instead; the
// constant is put into memory. So a vector of several registers needs no branch, and the load can
// be the operand of an instruction instead of keeping a register. It runs after LLVM's own
// simplifications.
void select_addresses(llvm::Module& module);

}  // namespace metal::cpu
