// Makes speculative bodies for coherent gangs, in which all lanes have one quotient where an index
// is divided.
#pragma once

#include <optional>

#include "llvm/IR/Instruction.h"
#include "llvm/IR/PassManager.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// The operation that a call of this name stands for, if it divides a coherent gang's index.
std::optional<llvm::Instruction::BinaryOps> coherent_division(llvm::StringRef name);

// Peels the first iteration of loops that divide an index by one size after the other. True if
// there are any.
bool peel_index_loops(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses);

// Kernels divide their thread's index by the sizes of an array. If the innermost size is not
// smaller than a gang, most gangs have just one quotient, and what is computed from it is uniform.
// Returns null if the body makes no such division before it has effects, or very many.
llvm::Function* clone_assuming_coherent(llvm::Function& body, const BodyShapes& shapes);

}  // namespace metal::cpu
