// How types are spelled in Metal.
#pragma once

#include <string>

#include "clang/AST/Type.h"

namespace metal::compiler {

// "uint" for unsigned int, and so on; other types as Clang spells them.
std::string scalar_name(clang::QualType type);

}  // namespace metal::compiler
