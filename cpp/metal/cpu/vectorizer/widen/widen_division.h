// Widens integer division.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Widens udiv, sdiv, urem and srem whose result varies.
void widen_division(Widener& widener, llvm::BinaryOperator& operation);

// Widens a call of kCoherentQuotient or kCoherentRemainder (assume_coherent.h). The gang bails out
// if lanes have different quotients.
void widen_coherent_division(Widener& widener, llvm::CallInst& call, bool is_quotient);

}  // namespace metal::cpu
