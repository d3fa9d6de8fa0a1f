// Runs the compiler on a thread of its own, so that its crashes do not end the process.
#pragma once

#include <exception>
#include <functional>

namespace metal::compiler {

// Registers the code generator of the host and the handlers of LLVM's fatal errors. run_guarded
// does it, too.
void prepare_llvm();

// Runs `work` on a thread with a large stack. Exceptions of `work` are thrown here. A crash of the
// compiler (a stack overflow, a failed check inside LLVM) becomes a CompileError.
void run_guarded(const std::function<void()>& work);

// Remembers the step of the compiler that has ended, for the message of a crash. `name` is a
// literal.
void note_step(const char* name);

// Ends the work from anywhere below run_guarded, which throws this error. It does not unwind the
// stack, as LLVM's code does not support that: the thread stops forever, and keeps its memory.
// Outside run_guarded it throws the error itself.
[[noreturn]] void abandon(std::exception_ptr error);

}  // namespace metal::compiler
