// How Metal calls the types that Clang knows.
#pragma once

#include <optional>
#include <string>

#include "clang/AST/Type.h"
#include "metal/compiler/scalar_types.h"

namespace metal::compiler {

// Which scalar type it is, if any.
std::optional<ScalarType> scalar_type(clang::QualType type);

// Its name, as "uint" for unsigned int; other types as Clang spells them.
std::string scalar_name(clang::QualType type);

}  // namespace metal::compiler
