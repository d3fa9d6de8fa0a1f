// Replaces divergent control flow by straight code under masks.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// Afterwards every branch is uniform. Blocks that touch memory or call functions start with
// simd.mask(m): m says which lanes run them. Selects under masks replace the phis at joins. Code
// jumps over a block if simd.any(m) is false. Instructions lose the flags that only hold behind a
// divergent branch: see speculation.h. `active` is the argument that says which lanes of the gang
// have a thread.
void linearize(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& active);

}  // namespace metal::cpu
