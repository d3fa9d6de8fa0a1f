// Runs LLVM's verifier between the steps of a pipeline if MLX_VERIFY_IR is set, as it is in tests.
#pragma once

#include <cstdlib>
#include <string_view>

#include "metal/compiler/internal_check.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

inline bool verifies_ir() {
  static const bool wanted = [] {
    const char* text = std::getenv("MLX_VERIFY_IR");
    return text && *text && std::string_view(text) != "0";
  }();
  return wanted;
}

// Throws an internal error that names the step if it left invalid code.
void verify(const llvm::Function& function, const char* step,
            const Place& place = Place::current());
void verify(const llvm::Module& module, const char* step, const Place& place = Place::current());

}  // namespace metal::compiler
