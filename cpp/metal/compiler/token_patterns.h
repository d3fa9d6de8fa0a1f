// Spellings of Metal that take more than one token to recognise.
#pragma once

#include <set>
#include <vector>

#include "clang/Lex/Token.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Whether the address space at `position` qualifies a constructor: `X(...) constant`.
bool qualifies_constructor(const std::vector<clang::Token>& tokens, size_t position);

// Writes array parameters in a named address space, `constant int x[3]`, as the pointers that they
// are: C++ would give the address space to the parameter itself.
std::vector<clang::Token> decay_array_parameters(const std::vector<clang::Token>& tokens);

// String literals between one of these locations and the end of its statement become
// `(metal::__text<"...">.at)`: an array in the constant address space, where Metal has them all.
std::vector<clang::Token> place_texts(clang::Preprocessor& preprocessor,
                                      const std::vector<clang::Token>& tokens,
                                      const std::set<unsigned>& places);

}  // namespace metal::compiler
