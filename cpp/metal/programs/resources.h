// Finds the compiler's own files: the standard library's headers and their precompiled forms.
#pragma once

#include <filesystem>
#include <string>

#include "metal/api.h"

namespace metal::compiler {

// The folder of the library, or of the program, with this code. Empty if it is not known.
std::filesystem::path code_folder();

METAL_API std::string resource_directory();
METAL_API std::string stdlib_directory();
// Its headers take precedence over the user's headers of the same name.
METAL_API std::string preferred_directory();
METAL_API std::string precompiled_header(bool with_mlx_utils);

// It differs whenever the standard library or the compiler does.
std::string stdlib_fingerprint();

}  // namespace metal::compiler
