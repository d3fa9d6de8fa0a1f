// A speculative body for coherent gangs: all lanes have one quotient where an index is divided.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// Peels the first iteration of loops that divide an index by one size after the other. Says whether
// there were any.
bool peel_index_loops(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses);

// Kernels take their thread's index apart by dividing it by the sizes of an array. Where the
// innermost size is not smaller than a gang, most gangs have just one quotient, and what follows
// from it is uniform. Null if the body does not divide so before it has effects.
llvm::Function* clone_assuming_coherent(llvm::Function& body, const BodyShapes& shapes);

}  // namespace metal::cpu
