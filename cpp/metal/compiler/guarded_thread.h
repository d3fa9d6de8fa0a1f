// Runs the compiler on a thread of its own, so that its crashes do no harm.
#pragma once

#include <exception>
#include <functional>

namespace metal::compiler {

// Registers the host's code generator and what LLVM calls when it gives up. Also for code that only
// loads what was compiled before.
void prepare_llvm();

// Runs `work` on a thread with a large stack. Its exceptions pass through. A crash of the compiler
// (a stack overflow, a failed check inside LLVM) becomes a CompileError.
void run_guarded(const std::function<void()>& work);

// Ends the work from anywhere below run_guarded, which throws this error. Nothing is unwound, as
// LLVM's code is not made for it: the thread stops where it is, for good, with all that it holds.
// Throws the error itself where no run_guarded is above.
[[noreturn]] void abandon(std::exception_ptr error);

}  // namespace metal::compiler
