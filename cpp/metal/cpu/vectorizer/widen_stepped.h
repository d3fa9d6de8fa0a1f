// Numbers and addresses that grow from lane to lane by a step that only the run knows.
#pragma once

#include "metal/cpu/vectorizer/widener.h"

namespace metal::cpu {

// Lane 0's value and the step of an instruction whose shape is stepped.
void widen_stepped(Widener& widener, llvm::Instruction& instruction);

// A call of kTogetherZExt or kTogetherSExt (assume_together.h). Goes to `give_up` where a lane
// wraps around.
void widen_extension_together(Widener& widener, llvm::CallInst& call, bool is_signed,
                              llvm::BasicBlock* give_up);

}  // namespace metal::cpu
