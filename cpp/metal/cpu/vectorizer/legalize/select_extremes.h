// Makes maxima and minima of numbers that are no NaN one instruction each.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// The maximum of a number and a NaN is the number. The instruction of x86 gives its second operand
// if one is NaN, so LLVM adds a comparison and a select. Neither is needed if one of the operands
// is never NaN, as the largest value so far of a loop that starts with a number: `x > most ? x :
// most` is one instruction, and LLVM finds it where both stand together. If both may be NaN, the
// one that comes from the loop's last iteration becomes the second operand, for which the others
// need not wait. It runs after LLVM's simplifications.
void select_extremes(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace metal::cpu
