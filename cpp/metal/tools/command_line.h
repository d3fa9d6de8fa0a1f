// The command line of metalc, apart from main(), so that tests and other programs can call it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "metal/api.h"

namespace metal::tools {

// Returns the exit status.
METAL_API int metalc(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err);

}  // namespace metal::tools
