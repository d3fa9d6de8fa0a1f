// Compares halves as floats, where LLVM 19 would compare them wrongly.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// With AVX512-FP16, LLVM makes one masked instruction of two comparisons that are joined by "and".
// If it then exchanges the operands, as one of them is in memory, it forgets to exchange "less" and
// "greater". As floats, which LLVM exchanges rightly, halves compare the same. Comparisons that do
// not change with the order of their operands stay, and so do those of minima and maxima, which
// become instructions of their own. It runs after LLVM's simplifications, which would undo it.
void compare_halves_as_floats(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace metal::cpu
