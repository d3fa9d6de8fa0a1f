// Widens values and addresses whose stride from lane to lane is only known at run time.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Computes lane 0's value and the stride of an instruction whose shape is strided.
void widen_strided(Widener& widener, llvm::Instruction& instruction);

// Widens a call of kCoherentZExt or kCoherentSExt (assume_coherent.h). The gang bails out if a lane
// wraps around.
void widen_coherent_extension(Widener& widener, llvm::CallInst& call, bool is_signed);

}  // namespace metal::cpu
