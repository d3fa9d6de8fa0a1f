// Integer division of all lanes at once.
#pragma once

#include "metal/cpu/vectorizer/widener.h"

namespace metal::cpu {

// udiv, sdiv, urem, srem with a result that varies.
void widen_division(Widener& widener, llvm::BinaryOperator& operation);

// A call of kTogetherQuotient or kTogetherRemainder (assume_together.h). Goes to `give_up` where
// lanes have different quotients.
void widen_division_together(Widener& widener, llvm::CallInst& call, bool is_quotient,
                             llvm::BasicBlock* give_up);

}  // namespace metal::cpu
