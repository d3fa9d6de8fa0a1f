// What generated code depends on besides its source.
#pragma once

#include <string>

namespace metal::cpu {

// Text that differs for processors with different instructions, for values of MLX_CPU_TARGET, and
// for versions of the compiler. It needs no LLVM.
std::string target_key();

// Throws CompileError if MLX_CPU_TARGET names a processor whose code this machine cannot run, and
// std::invalid_argument if it names none.
void require_runnable_target();

}  // namespace metal::cpu
