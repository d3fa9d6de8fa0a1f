// Turns the code of one lane into the code of a whole gang.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// Makes a function that does for `shapes.width` lanes what the linearised `body` does for one. An
// argument that varies becomes a vector; for others lane 0's value is passed. If it `may_bail_out`,
// the function returns false when it does: see assume_coherent.h. Null if something in the body has
// no vector form; `reason` then says what.
llvm::Function* widen(llvm::Function& body, const BodyShapes& shapes, bool may_bail_out,
                      const llvm::TargetTransformInfo& costs, std::string& reason);

}  // namespace metal::cpu
