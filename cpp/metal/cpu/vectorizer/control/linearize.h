// Turns control flow that differs between lanes into straight code under masks.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// Afterwards all lanes of a gang take every branch together. Blocks that touch memory or call
// something start with simd.mask(m): m says which lanes run them. Values that lanes bring to a join
// are selected by masks; blocks that no lane may need are skipped where simd.any(m) is false.
// What was only true behind a branch that lanes took in different directions is forgotten: see
// speculation.h.
// `active` is the argument that says which lanes of the gang exist.
void linearize(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& active);

}  // namespace metal::cpu
