// Runs LLVM's verifier between the steps of a pipeline if MLX_VERIFY_IR is set, as it is in tests.
#pragma once

#include "metal/compiler/internal_check.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

bool verifies_ir();

// Throws an internal error that names the step if it left invalid code.
void verify(const llvm::Function& function, const char* step,
            const Place& place = Place::current());
void verify(const llvm::Module& module, const char* step, const Place& place = Place::current());

}  // namespace metal::compiler
