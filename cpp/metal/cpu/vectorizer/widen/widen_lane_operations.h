// Widens SIMD-group functions and barriers.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// False if there is no such operation.
bool widen_lane_operation(Widener& widener, llvm::CallInst& call);

}  // namespace metal::cpu
