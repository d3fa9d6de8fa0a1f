// Identifies the sources that this compiler was built from.
#pragma once

#include <string_view>

namespace metal::compiler {

// A hash of all files that influence generated code, including the standard library's. It is part
// of every key of the disk cache.
std::string_view code_version();

}  // namespace metal::compiler
