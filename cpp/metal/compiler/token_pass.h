// Rewrites the preprocessed tokens of Metal source into tokens that Clang's C++ parser accepts.
//
// Metal's address spaces become Clang's OpenCL address-space keywords, `kernel` and Metal's
// attributes become annotate attributes, and `threadgroup` variables become statics. Every token
// keeps its source location, so that diagnostics point at the user's text.
#pragma once

#include <set>
#include <vector>

#include "clang/Lex/Token.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Places in the source that C++ refuses and Metal accepts, by the raw encoding of their location.
struct Repairs {
  // The `?` of conditional operators and the beginnings of casts, which include the names of
  // objects that are initialized as in `bfloat b(h)`. Operands of the former are copied, as C++
  // finds no common type for objects of one class in two address spaces. Operands of the latter
  // that are half or bfloat become float, as Clang converts neither into the other.
  std::set<unsigned> operands;
  // The `?` of conditional operators with a packed vector and a vector, which convert to each
  // other. Both become vectors.
  std::set<unsigned> packed;
  // From these to the end of the statement, string literals are in the constant address space.
  std::set<unsigned> texts;
  // The names of threadgroup variables with an initializer, which Clang refuses. An initializer
  // that consists of zeros becomes an annotation.
  std::set<unsigned> initializers;

  // The names of methods among which Clang could not choose. Those for objects in a named address
  // space become templates, as it takes them for objects in `thread` as well.
  std::set<unsigned> methods;
  // Operators in templates with a swizzle, as in `v.xy * s`, and no other operand of a class. For
  // these Clang looks among its own operators only. A call makes a value of the swizzle, which is
  // the left operand, the right one or the only one.
  std::set<unsigned> left_swizzles, right_swizzles, only_swizzles;

  size_t size() const {
    return operands.size() + packed.size() + texts.size() + initializers.size() + methods.size() +
           left_swizzles.size() + right_swizzles.size() + only_swizzles.size();
  }
  void merge(Repairs& other) {
    operands.merge(other.operands);
    packed.merge(other.packed);
    texts.merge(other.texts);
    initializers.merge(other.initializers);
    methods.merge(other.methods);
    left_swizzles.merge(other.left_swizzles);
    right_swizzles.merge(other.right_swizzles);
    only_swizzles.merge(other.only_swizzles);
  }
};

std::vector<clang::Token> rewrite_tokens(clang::Preprocessor& preprocessor,
                                         const std::vector<clang::Token>& tokens,
                                         const Repairs& repairs);

}  // namespace metal::compiler
