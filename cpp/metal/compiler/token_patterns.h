// Recognises Metal spellings that consist of several tokens.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clang/Lex/Token.h"
#include "llvm/ADT/StringRef.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Whether the token is `device`, `constant` or `threadgroup`.
bool is_address_space(const clang::Token& token);

// Whether the address space at `position` qualifies a constructor: `X(...) constant`.
bool qualifies_constructor(const std::vector<clang::Token>& tokens, size_t position);

// Writes array parameters in a named address space, `constant int x[3]`, as pointers. C++ would
// apply the address space to the parameter itself.
std::vector<clang::Token> decay_array_parameters(clang::Preprocessor& preprocessor,
                                                 const std::vector<clang::Token>& tokens);

// Removes `coherent(device)` and the like, as memory is coherent on every supported device.
void drop_coherence(std::vector<clang::Token>& tokens);

// Whether the declarator that ends before `end` names a member of a class, as `T::x` does.
bool is_qualified_name(const std::vector<clang::Token>& tokens, size_t end);

// Turns `x[2] = {0}` into `x[2] [[__zeroed]]` where x is at one of these locations. Initializers
// with other values than zeros stay.
std::vector<clang::Token> annotate_zeroed(clang::Preprocessor& preprocessor,
                                          const std::vector<clang::Token>& tokens,
                                          const std::set<unsigned>& places);

// Writes `template <typename = void>` before methods whose names are at one of these locations and
// that are for objects in a named address space.
std::vector<clang::Token> make_templates(clang::Preprocessor& preprocessor,
                                         const std::vector<clang::Token>& tokens,
                                         const std::set<unsigned>& places);

// A literal of half or bfloat, and the text of a float with the same value.
struct NarrowNumber {
  bool half;
  std::string text;
};
std::optional<NarrowNumber> narrow_number(llvm::StringRef spelling);

// Turns string literals between one of these locations and the end of its statement into
// `(__metal_text<"...">.at)`, an array in the constant address space, where Metal has all
// literals.
std::vector<clang::Token> place_texts(clang::Preprocessor& preprocessor,
                                      const std::vector<clang::Token>& tokens,
                                      const std::set<unsigned>& places);

}  // namespace metal::compiler
