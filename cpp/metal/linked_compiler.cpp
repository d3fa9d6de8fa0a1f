// The compiler in programs that it is linked into.
#include "metal/compiler_library.h"

namespace metal {

CompilerLibrary& compiler_library() { return *metal_compiler_library(); }

}  // namespace metal
