#include "metal/compiler/guarded_thread.h"

#include <exception>
#include <mutex>

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "metal/compiler/compiler.h"

namespace metal::compiler {
namespace {

constexpr unsigned kStackBytes = 256u << 20;

}  // namespace

void prepare_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
      throw CompileError(std::string("error: the kernel is too much for the compiler: ") + reason + "\n");
    });
  });
}

void run_guarded(const std::function<void()>& work) {
  prepare_llvm();
  std::exception_ptr error;
  llvm::CrashRecoveryContext crash;
  const bool finished = crash.RunSafelyOnThread(
      [&] {
        try {
          work();
        } catch (...) {
          error = std::current_exception();
        }
      },
      kStackBytes);
  if (error) std::rethrow_exception(error);
  if (!finished) throw CompileError("error: the compiler failed on this source\n");
}

}  // namespace metal::compiler
