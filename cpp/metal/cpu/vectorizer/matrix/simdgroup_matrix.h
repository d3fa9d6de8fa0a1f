// Products of the 8x8 matrices that the lanes of a SIMD-group hold together.
#pragma once

namespace llvm {
class CallInst;
}

namespace metal::cpu {

class Widener;

// The call returns a lane's two results as one number of 64 bits; code that takes it apart at once
// gets them as they are.
void widen_multiply_accumulate(Widener& widener, llvm::CallInst& call);

}  // namespace metal::cpu
