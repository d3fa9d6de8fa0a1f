// Operations on integer constants: gives them the values that define_arithmetic.cpp defines.
#pragma once

#include <memory>

namespace clang {
class ASTConsumer;
}

namespace metal::compiler {

// Clang computes an operation whose operands are constants while it makes IR, and leaves shifts by
// the width or more, divisions by zero and overflowing divisions undefined. This consumer comes
// before the one that makes IR and replaces the right operand of each.
std::unique_ptr<clang::ASTConsumer> define_constants();

}  // namespace metal::compiler
