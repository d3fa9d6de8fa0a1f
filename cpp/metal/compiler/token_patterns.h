// Spellings of Metal that take more than one token to recognise.
#pragma once

#include <vector>

#include "clang/Lex/Token.h"

namespace metal::compiler {

// Whether the address space at `position` qualifies a constructor: `X(...) constant`.
bool qualifies_constructor(const std::vector<clang::Token>& tokens, size_t position);

// Writes array parameters in a named address space, `constant int x[3]`, as the pointers that they
// are: C++ would give the address space to the parameter itself.
std::vector<clang::Token> decay_array_parameters(const std::vector<clang::Token>& tokens);

}  // namespace metal::compiler
