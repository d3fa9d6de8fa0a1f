// Prepares constants that hold vectors for LLVM's evaluator of initializers, which follows loads
// and stores only if each has the type of one element of its variable.
#pragma once

namespace llvm {
class Module;
}

namespace metal::compiler {

// Gives variables that are computed before a kernel runs types without vectors, with all components
// at the same places. Their initializers load and store single components.
void split_constants(llvm::Module& module);

}  // namespace metal::compiler
