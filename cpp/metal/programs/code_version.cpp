#include "metal/programs/code_version.h"

namespace metal::compiler {

std::string_view code_version() {
  return
#include "code_version.inc"  // written by cmake/code_version.cmake
      ;
}

}  // namespace metal::compiler
