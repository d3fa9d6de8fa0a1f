// Gives operations on integer constants the values that define_arithmetic.cpp defines.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
}

namespace metal::compiler {

// Clang evaluates operations on constants while it emits IR, and leaves shifts by the width or
// more, divisions by zero and overflowing divisions undefined. This consumer runs before Clang
// emits IR and replaces the right operand of such operations.
std::unique_ptr<clang::ASTConsumer> define_constants();

}  // namespace metal::compiler
