// Computes reciprocal square roots from the processor's estimate, where they need not be exact.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace metal::cpu {

// AVX-512 has an estimate with 14 bits, so one step of Newton's method replaces a square root and a
// division, whose unit is slow. Only divisions that allow reciprocals are replaced, such as that of
// metal::rsqrt: results differ by up to 1.05 ulp from the exact ones. Scalars and vectors have the
// same results. Other processors divide, and LLVM must not use its own estimates there: they are
// less accurate than metal::rsqrt may be, and wrong for zero. It runs after LLVM's own
// simplifications.
void expand_reciprocal_roots(llvm::Module& module, const llvm::TargetMachine& target);

}  // namespace metal::cpu
