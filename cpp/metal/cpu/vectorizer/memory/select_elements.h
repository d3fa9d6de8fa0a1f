// Keeps short arrays of a thread in registers although lanes access different elements.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

struct BodyShapes;

// Where lanes access different elements of their arrays, vector code gathers and scatters. If an
// array has few elements, choosing among all of them is faster: a load becomes selects, a store
// replaces each element or keeps it. Then all accesses have constant indices, and the elements
// become values. An index outside the array, which the program must not use, chooses any element.
// True if there are such arrays.
bool select_elements(llvm::Function& body, const BodyShapes& shapes,
                     llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
