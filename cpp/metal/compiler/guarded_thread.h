// Runs the compiler where its crashes do no harm.
#pragma once

#include <functional>

namespace metal::compiler {

// Runs `work` on a thread with a large stack. Exceptions pass through; a crash of the compiler (a stack overflow, a failed
// check inside LLVM) becomes a CompileError.
void run_guarded(const std::function<void()>& work);

}  // namespace metal::compiler
