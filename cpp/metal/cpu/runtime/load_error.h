// The error of object files that cannot be loaded.
#pragma once

#include <string>

#include "metal/compiler/compiler.h"

namespace metal::cpu {

[[noreturn]] inline void refuse_code(const std::string& why) {
  throw CompileError("cannot load code: " + why);
}

}  // namespace metal::cpu
