// Finds out whether all lanes, or any, satisfy a condition from the values of two lanes.
#pragma once

#include "llvm/IR/Instructions.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Kernels compare their thread's index with the size of an array. Indices that grow from lane to
// lane satisfy `index < size` in the first lanes, if at all. So the first lane tells whether any
// lane does, and the last lane whether all do. Records this for a comparison or a logical operation
// on such bits, of which `wide` is the vector form.
void record_lane_bits(Widener& w, llvm::Instruction& instruction, llvm::Value* wide);

}  // namespace metal::cpu
