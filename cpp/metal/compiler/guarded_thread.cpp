#include "metal/compiler/guarded_thread.h"

#include <csignal>
#include <exception>
#include <memory>
#include <mutex>

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/faults.h"

namespace metal::compiler {
namespace {

constexpr unsigned kStackBytes = 256u << 20;
constexpr size_t kSignalStackBytes = 64u << 10;

// A stack overflow needs another stack for its handler.
class SignalStack {
 public:
  SignalStack() : memory_(new char[kSignalStackBytes]) {
    const stack_t stack = {.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = kSignalStackBytes};
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  }

 private:
  std::unique_ptr<char[]> memory_;
};

// Where abandon() leaves its message.
thread_local std::string* reason = nullptr;

}  // namespace

void catch_compiler_crashes() { llvm::CrashRecoveryContext::Enable(); }

void prepare_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    cpu::install_fault_handlers();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
      throw CompileError(std::string("error: the kernel is too much for the compiler: ") + reason +
                         "\n");
    });
  });
}

void run_guarded(const std::function<void()>& work) {
  prepare_llvm();
  std::exception_ptr error;
  std::string message = "error: the compiler failed on this source\n";
  llvm::CrashRecoveryContext crash;
  const bool finished = crash.RunSafelyOnThread(
      [&] {
        thread_local const SignalStack stack;  // goes with the thread, however the work ends
        reason = &message;
        try {
          work();
        } catch (...) {
          error = std::current_exception();
        }
      },
      kStackBytes);
  if (error) std::rethrow_exception(error);
  if (!finished) throw CompileError(message);
}

void abandon(const std::string& message) {
  *reason = message;
  llvm::CrashRecoveryContext::GetCurrent()->HandleExit(1);
}

}  // namespace metal::compiler
