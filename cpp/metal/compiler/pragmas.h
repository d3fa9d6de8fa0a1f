// Handles Metal's own pragmas.
#pragma once

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Turns `#pragma METAL fp math_mode(safe|relaxed|fast)` and `#pragma METAL fp
// contract(off|on|fast)` into Clang's pragmas for a file or a block, and ignores Metal's other
// pragmas.
void add_metal_pragmas(clang::Preprocessor& preprocessor);

}  // namespace metal::compiler
