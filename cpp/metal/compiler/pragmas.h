// Metal's own pragmas.
#pragma once

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// `#pragma METAL fp math_mode(safe|relaxed|fast)` and `#pragma METAL fp contract(off|on|fast)`
// become the pragmas by which Clang sets the same for a file or a block; other pragmas of Metal's
// have no meaning here.
void add_metal_pragmas(clang::Preprocessor& preprocessor);

}  // namespace metal::compiler
