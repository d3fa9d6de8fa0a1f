// LLVM's checks of the code between the steps of a pipeline: on where MLX_VERIFY_IR is set, as it
// is for the tests.
#pragma once

#include "metal/compiler/internal_check.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

bool verifies_ir();

// An internal error that names the step if it left code that breaks LLVM's rules.
void verify(const llvm::Function& function, const char* step,
            const Place& place = Place::current());
void verify(const llvm::Module& module, const char* step, const Place& place = Place::current());

}  // namespace metal::compiler
