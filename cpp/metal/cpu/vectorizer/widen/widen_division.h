// Integer division of all lanes at once.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// udiv, sdiv, urem, srem with a result that varies.
void widen_division(Widener& widener, llvm::BinaryOperator& operation);

// A call of kCoherentQuotient or kCoherentRemainder (assume_coherent.h). The gang bails out where
// lanes have different quotients.
void widen_coherent_division(Widener& widener, llvm::CallInst& call, bool is_quotient);

}  // namespace metal::cpu
