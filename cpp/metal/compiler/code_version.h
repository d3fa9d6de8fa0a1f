// Which sources this compiler was built from.
#pragma once

#include <string_view>

namespace metal::compiler {

// A hash of all files that have a part in generating code, the standard library's included. Part of
// every key of the disk cache.
std::string_view code_version();

}  // namespace metal::compiler
