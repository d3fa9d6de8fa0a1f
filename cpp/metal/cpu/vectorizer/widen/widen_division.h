// Widens integer division.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Widens udiv, sdiv, urem and srem whose result varies.
void widen_division(Widener& widener, llvm::BinaryOperator& operation);

// Widens a call of a coherent division (assume_coherent.h) that stands for `opcode`. The gang bails
// out if lanes have different quotients.
void widen_coherent_division(Widener& widener, llvm::CallInst& call,
                             llvm::Instruction::BinaryOps opcode);

}  // namespace metal::cpu
