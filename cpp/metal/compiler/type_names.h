// How Metal calls the types that Clang knows.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/Type.h"
#include "metal/compiler/scalar_types.h"

namespace clang {
class ClassTemplateSpecializationDecl;
}

namespace metal::compiler {

// Which scalar type it is, if any.
std::optional<ScalarType> scalar_type(clang::QualType type);

// The element type and length of vec<T, N> with names for its components; those of a scalar count
// as a vector of length 1.
struct VectorType {
  ScalarType element;
  uint32_t components;
};
std::optional<VectorType> vector_type(clang::QualType type);

// Its name, as "uint" for unsigned int; other types as Clang spells them.
std::string scalar_name(clang::QualType type);

// vec<T, N> and packed_vec<T, N>, and references to them; null for other types.
const clang::ClassTemplateSpecializationDecl* as_vector(clang::QualType type);

}  // namespace metal::compiler
