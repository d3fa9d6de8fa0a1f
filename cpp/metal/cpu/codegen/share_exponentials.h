// Computes one exponential where a program writes two but needs one.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// A softmax of one pass keeps the largest value so far:
//
//     float now = max(most, value);
//     sum = sum * exp(most - now) + exp(value - now);
//
// One of the exponents is 0 or NaN, as `now` is one of the two values. There the exponential is the
// exponent plus 1, without rounding, and the other one is all that has to be computed. Programs
// that branch instead compute an exponential on either side, where each thread needs one: it is
// computed before the branch.
//
// It runs while exponentials are calls (metal/compiler/hardware_math.h).
void share_exponentials(llvm::Module& module);

}  // namespace metal::cpu
