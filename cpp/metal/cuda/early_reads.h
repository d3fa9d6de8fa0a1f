// Moves reads in front of writes, so that several are on their way at once.
#pragma once

namespace llvm {
class Function;
class Instruction;
class LoadInst;
}  // namespace llvm

namespace metal::cuda {

// Whether it reads a buffer that nobody writes while the kernel runs.
bool reads_constant_buffer(const llvm::LoadInst& load);

// Whether lanes of a SIMD-group exchange values, which they do in registers.
bool exchanges_lanes(const llvm::Instruction& instruction);

// Whether the instruction orders accesses to memory before and after it. Relaxed atomic operations
// and exchanges between lanes do not.
bool orders_accesses(const llvm::Instruction& instruction);

// LLVM's back end leaves reads behind the atomic operations, stores and exchanges between lanes
// that come before them, such as those of a histogram whose loop was unrolled. Each would wait for
// memory alone. This moves reads of constant buffers in front of relaxed atomic operations, of
// stores and exchanges in loops, and of branches that guard such; only a few of them, as each takes
// a register.
void read_early(llvm::Function& entry);

}  // namespace metal::cuda
