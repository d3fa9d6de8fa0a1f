// Conversion of floats to integers, of all lanes at once.
#pragma once

#include "metal/cpu/vectorizer/widen/widener.h"

namespace llvm {
class IntrinsicInst;
}

namespace metal::cpu {

// Whether the call is of llvm.fptosi.sat or llvm.fptoui.sat, and the target's vectors have no
// instruction for it.
bool is_conversion(const llvm::IntrinsicInst& call);
// Such a call, with a result that varies.
void widen_conversion(Widener& widener, llvm::IntrinsicInst& call);

}  // namespace metal::cpu
