// Turns the code of one lane into the code of a whole gang.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// Makes the function that does for `shapes.width` lanes what the linearised `body` does for one. An
// argument that varies between lanes becomes a vector; of the others lane 0's value is passed. The
// function says whether it has done so if it `may_bail_out`: see assume_coherent.h. Null if
// something in the body has no vector form: `reason` says what.
llvm::Function* widen(llvm::Function& body, const BodyShapes& shapes, bool may_bail_out,
                      const llvm::TargetTransformInfo& costs, std::string& reason);

}  // namespace metal::cpu
