// Runs the compiler where its crashes do no harm.
#pragma once

#include <functional>
#include <string>

namespace metal::compiler {

// Registers the host's code generator and makes LLVM's fatal errors exceptions. Also for code that
// only loads what was compiled before.
void prepare_llvm();

// Runs `work` on a thread with a large stack. Exceptions pass through; a crash of the compiler (a
// stack overflow, a failed check inside LLVM) becomes a CompileError.
void run_guarded(const std::function<void()>& work);

// Installs LLVM's handlers of crash signals. Handlers that know better (of faults in kernels) must
// be installed later, and pass on what is not theirs.
void catch_compiler_crashes();

// Ends the work from anywhere below run_guarded, which throws CompileError with this message. What
// the work held is lost: no destructor runs.
[[noreturn]] void abandon(const std::string& message);

}  // namespace metal::compiler
