// Finds barriers that threads need not wait at if they run from the last one to the first.
#pragma once

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace metal::cpu {

// In sums of prefixes, each thread reads an element before its own, waits until all have read, and
// writes its own:
//
//   float other = x >= distance ? sums[x - distance] : 0;
//   barrier();
//   sums[x] += other;
//
// Nothing that a thread writes is read by one before it. So a thread may write before those before
// it read, and phase_loops.h runs both parts of a gang at once, from the last gang to the first:
// `other` then stays in a register. This pass marks such barriers. It looks at what threads access
// between the barriers before and after: for each pair of accesses before and after the barrier, of
// which one writes, a thread's access must end before that of any thread with a larger x starts.
// Anything else that may touch memory keeps the barrier.
//
// No way from the start of the kernel leads to such a barrier without another one, because the
// first gang is the first in the phase that starts there.
void mark_descending_barriers(llvm::Function& body);

// Whether the call in the code of a thread or of a gang is a marked barrier.
bool is_descending(const llvm::Instruction& barrier);
void mark_descending(llvm::Instruction& barrier);

}  // namespace metal::cpu
