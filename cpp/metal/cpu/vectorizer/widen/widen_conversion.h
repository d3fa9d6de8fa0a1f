// Widens conversions of floats to integers.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace llvm {
class IntrinsicInst;
}

namespace metal::cpu {

// Whether the call is one of llvm.fptosi.sat or llvm.fptoui.sat for which the target has no vector
// instruction.
bool is_conversion(const llvm::IntrinsicInst& call);
// Widens such a call whose result varies.
void widen_conversion(Widener& widener, llvm::IntrinsicInst& call);

}  // namespace metal::cpu
