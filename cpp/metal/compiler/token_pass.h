// Rewrites the preprocessed tokens of Metal source into tokens that Clang's C++ parser takes.
//
// Metal's address spaces become Clang's OpenCL address-space keywords, `kernel` and Metal's attributes become annotate
// attributes, and `threadgroup` variables become statics. Every token keeps its source location, so that diagnostics
// point at the user's text.
#pragma once

#include <set>
#include <vector>

#include "clang/Lex/Token.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Conditional operators, by the raw encoding of the location of their `?`.
using Conditionals = std::set<unsigned>;

// The operands of the conditional operators in `by_value` are copied: C++ finds no common type for objects of one class
// in two address spaces, Metal does.
std::vector<clang::Token> rewrite_tokens(clang::Preprocessor& preprocessor, const std::vector<clang::Token>& tokens,
                                         const Conditionals& by_value);

}  // namespace metal::compiler
